// The words of the field, each in one or two short sentences (docs/glossary.md has all of them).

export const WORDS = {
  "quasi-identifier": "A column that others may know of a person and could join with outside data, such as age or postcode. It is published less exactly.",
  sensitive: "A column whose value nobody should learn about a person, such as a diagnosis. It is published unchanged, and rules can be set for it.",
  identifier: "A column that points at one person, such as a name or a number. It is dropped.",
  keep: "Published unchanged, without a rule.",
  person: "Names the person of a row, where a person has several rows. Then k counts persons. Not published.",
  weight: "Sampling weight of a survey: how many persons of the population a row stands for. Published unchanged.",
  unique: "A row is unique when no other row has the same values in these columns. Whoever knows the values finds the row.",
  class: "All rows that show the same in every quasi-identifier.",
  k: "Every class has at least k rows: each row has k-1 others that look like it.",
  hierarchy: "Says which groups may be published in place of a value: nurse, Health, Services, and * at the root (anything).",
  level: "Level 1 is the group just above the value; the last level is the root, which stands for everything.",
  loss: "Lost detail: 0 % is the table as it is, 100 % is a table of * only.",
  bound: "Lower bound: no release that satisfies k can lose less than this.",
  "bound of k": "The lower bound is for k alone: no release with this k can lose less. The other rules may cost more than that, so there is no gap to it.",
  gap: "Loss divided by the lower bound. 1.00 would be the best possible; 1.10 is at most 10 % above it.",
  l: "In every class no value fills more than 1/l of the rows.",
  alpha: "In every class no value fills more than this share of the rows; with chosen values, these together.",
  distinct: "Every class has at least so many different values.",
  entropy: "The values of a class are as evenly mixed as this number of equally frequent values.",
  t: "In every class the values are spread nearly as in the whole table: at most this far away, 0 (equal) to 1.",
  suppressed: "A row of the source that is not in the release.",
  price: "How easily a row is suppressed: with 1 only where the others gain as much as it loses, with 0 wherever they gain anything.",
  risk: "Highest risk: the chance to pick the right row for a person whom one knows to be in the table. 1 divided by the smallest class.",
  frontier: "What each k costs: a larger k means a smaller risk and more loss.",
  query: "Counts such as “how many women of 30 to 39?” are made on the table and on the release; the error is how far they differ.",
  codebook: "A page beside the release that says how each column is read.",
};

export const ROLES = [
  ["quasi", "Quasi", WORDS["quasi-identifier"]],
  ["sensitive", "Sensitive", WORDS.sensitive],
  ["keep", "Keep", WORDS.keep],
  ["identifier", "Drop", WORDS.identifier],
  ["person", "Person", WORDS.person],
  ["weight", "Weight", WORDS.weight],
];

export const roleName = (role) => ROLES.find(([key]) => key === role)?.[1] ?? "none";
