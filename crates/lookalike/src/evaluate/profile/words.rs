//! The words that column names are made of, by what they say of a column: in English, German,
//! French, Spanish, Italian, Dutch, Portuguese and Polish. Words are in lower case, without accents
//! (`größe` is `grosse`), and compounds are one word (`date de naissance` is `datedenaissance`).

/// Words that identify a person, whatever other words there are.
pub(super) const IDENTIFIER: &str = "\
    accountnumber bankaccount birthname cellphone creditcard driverlicense driverslicense email \
    emailaddress familyname fax firstname forename fullname givenname guid iban insurancenumber ip \
    ipaddress lastname licenceplate licenseplate login maidenname mail medicalrecordnumber \
    middlename mobile mrn nationalid nhs nhsnumber nickname nino passport passportnumber patientid \
    personid personname phone phonenumber photo socialsecurity socialsecurityno \
    socialsecuritynumber ssn streetaddress surname taxid tel telephone uid url username uuid vin \
    vorname nachname familienname zuname geburtsname telefon telefonnummer handy handynummer \
    hausnummer anschrift strasse versichertennummer versicherungsnummer sozialversicherungsnummer \
    personalausweis personalnummer patientennummer patientennr patientenid patientenkennung patnr \
    patnummer patid versichertennr kundennummer kundennr mitarbeiternummer probandennummer \
    teilnehmernummer kontonummer steuernummer krankenversichertennummer \
    prenom nom nomdefamille portable courriel rue numerosecuritesociale nir numeropatient \
    numerodepatient idpatient identifiantpatient numeroclient \
    nombre apellido apellidos telefono movil direccion calle correo dni nie nif idpaciente \
    numeropaciente numerodepaciente codigopaciente \
    nome cognome cellulare indirizzo codicefiscale codicepaziente idpaziente numeropaziente \
    naam voornaam achternaam telefoon telefoonnummer mobiel adres straat huisnummer bsn \
    patientnummer patientnr persoonsnummer personnummer clientnummer klantnummer burgerservicenummer \
    sobrenome apelido telefone telemovel morada endereco rua cpf numeroutente idutente \
    numerodoutente codigoutente \
    imie nazwisko ulica pesel idpacjenta numerpacjenta kodpacjenta";

/// Words for the time of an event or the age of a person, which are easily joined with outside
/// data.
pub(super) const WHEN: &str = "\
    age agep birth birthdate birthday birthyear born date dateofbirth datetime dob timestamp \
    alter datum geburt geburtsdatum geburtsjahr geburtstag \
    ne nee naissance datedenaissance datenaissance anneedenaissance \
    edad fecha nacimiento fechadenacimiento fechanacimiento \
    eta nascita datadinascita datanascita \
    leeftijd geboortedatum geboortejaar \
    idade nascimento datadenascimento datanascimento \
    wiek urodzenia dataurodzenia rokurodzenia";

/// Words for values that must not be inferred.
pub(super) const SENSITIVE: &str = "\
    abortion abuse addiction alcohol allergy arrest asset balance biomarker bmi bonus cancer \
    capital cause charge cholesterol claim clinical comorbidity complication condition conviction \
    cost credit crime criminal death debt default diabetes diag diagnose diagnoses diagnosis \
    diagnostic dis disability disabled disease disorder dosage dose drg drug dx earning earnings \
    expense finding fine genotype glucose grade health hicov hiv icd illness impairment income \
    infection injury insurance intelligence iq lab loan loss medication medicine mortality mutation \
    offence offense opinion orientation outcome party payment penalty pension pincp politics poverty \
    pregnancy pregnant premium prescription price prison procedure prognosis psychiatric result \
    revenue risk salary score sentence severity sexuality smoker smoking spending suicide surgery \
    survival symptom target tax test therapy toxicology treatment unionmember vaccination vaccine \
    verdict violation vote wage wages wagp wealth \
    diagnosen hauptdiagnose nebendiagnose krankheit befund therapie behandlung medikament einkommen \
    gehalt lohn kosten vermogen vermoegen schulden raucher schwangerschaft behinderung blutdruck \
    laborwert ergebnis todesursache versicherung umsatz preis betrag beitrag partei gewerkschaft \
    maladie traitement medicament revenu salaire cout loyer deces handicap grossesse fumeur \
    diagnostico enfermedad tratamiento medicamento ingreso salario sueldo renta coste costo \
    discapacidad embarazo fumador \
    diagnosi malattia trattamento farmaco reddito stipendio disabilita gravidanza fumatore \
    ziekte behandeling medicatie inkomen salaris loon zwangerschap roker rookt patologia pathologie \
    patologie schwanger enceinte \
    doenca tratamento rendimento renda custo deficiencia gravidez fumante \
    rozpoznanie diagnoza choroba leczenie lek leki dochod dochody zarobki wynagrodzenie koszt ciaza \
    niepelnosprawnosc";

/// Words for values that others may know.
pub(super) const QUASI: &str = "\
    admission admitted ancestry area birthplace block borough branch building canton car caste \
    child children cit citizen citizenship city class commune community commute company country \
    countryofbirth county cow degree department dept discharge district domicile educ education \
    employer employment esr ethnic ethnicity eyecolor eyes faith family gender geo hair height \
    hisp hispanic home hometown hour hours household housing immigration indp industry job kids \
    language lat latitude length locality location lon long longitude major mar marital \
    maritalstatus married marstat mil military month mothertongue municipality nation nationality \
    native neighborhood neighbourhood occp occupation occupational origin owner parish place pob \
    pobp position postal postalcode postcode profession province puma rac race region relation \
    relationship religion religious rent residence residential rural schl school schooling sector \
    sex siblings spouse state stateofbirth station tenure title town tract transport tribe unit \
    university urban vehicle veteran village visit weight wkhp work workclass year yearofbirth zip \
    zipcode zone \
    geschlecht plz postleitzahl ort wohnort stadt bundesland landkreis kreis gemeinde bezirk \
    geburtsort geburtsland staatsangehorigkeit staatsangehoerigkeit nationalitat nationalitaet \
    herkunft familienstand beruf bildung schulabschluss bildungsabschluss ausbildung branche \
    arbeitgeber grosse groesse korpergrosse koerpergroesse gewicht aufnahme aufnahmedatum entlassung \
    entlassungsdatum konfession kinder haushalt sprache muttersprache land staat \
    sexe genre codepostal cp ville departement pays nationalite lieudenaissance etatcivil \
    situationfamiliale metier emploi diplome etudes taille poids enfants langue employeur \
    sexo genero codigopostal ciudad municipio provincia comunidad pais nacionalidad \
    lugardenacimiento estadocivil profesion ocupacion educacion estudios altura estatura peso hijos \
    idioma \
    sesso genere cap citta comune regione paese nazionalita cittadinanza luogodinascita statocivile \
    professione occupazione istruzione titolodistudio altezza figli lingua \
    geslacht woonplaats plaats stad gemeente provincie nationaliteit geboorteplaats \
    burgerlijkestaat beroep opleiding lengte kinderen taal \
    religione religiao geloof wyznanie ethnie npa concelho \
    cep cidade distrito freguesia estado nacionalidade naturalidade profissao ocupacao \
    escolaridade filhos \
    plec kodpocztowy miasto miejscowosc gmina powiat wojewodztwo kraj obywatelstwo narodowosc \
    stancywilny zawod wyksztalcenie wzrost waga dzieci jezyk";

/// Words that often identify a person, but not beside a word of another list (`country name`,
/// `diagnosis id`).
pub(super) const PERHAPS_IDENTIFIER: &str = "\
    account address barcode card case code contact fingerprint handle hash id ident identifier \
    identity index key licence license name no nr number password pin record recordnumber row \
    rowid sequence serial serialno signature street token \
    nummer kennung schlussel adresse fallnummer fallnr aktenzeichen \
    numero identifiant dossier identificador expediente codice nummero identyfikator numer";

/// Those of them that number things: `claim id`, `visit no`. With many values, the number
/// identifies the row.
pub(super) const NUMBERING: &str = "\
    id ident identifier key no nr number record serial nummer kennung numero identifiant \
    identificador numer identyfikator";

/// Those of them that name categories where there are few values: `migration code`.
pub(super) const CODE: &str = "code recode codice codigo kod";

/// Words for people, which number them when there is no other word.
pub(super) const PERSON: &str = "\
    client customer employee member participant patient person respondent student subject user \
    kunde kunden mitarbeiter teilnehmer proband probanden patienten patientin versicherte \
    versicherten paciente cliente usuario paziente utente deelnemer persoon pacjent pacjenta klient \
    klienta";

/// Quasi-identifiers whose numbers, if they have any, are codes and not amounts.
pub(super) const NOMINAL: &str = "\
    ancestry area birthplace borough canton cit citizenship city class code commune country county \
    cow department district employment esr ethnicity gender hisp hispanic indp industry job \
    language location mar marital maritalstatus mil military municipality nationality occp \
    occupation origin place pob pobp position profession province puma rac race recode region \
    relation relationship religion sector sex state status tract tribe type workclass \
    geschlecht bundesland kreis gemeinde familienstand beruf branche konfession land staat \
    sexe genre departement pays metier etatcivil sexo genero provincia municipio estadocivil pais \
    sesso genere regione comune statocivile geslacht gemeente provincie beroep plec gmina powiat \
    wojewodztwo stancywilny zawod kraj cidade profissao distrito concelho freguesia religione \
    religiao geloof wyznanie ethnie";

/// Words for amounts: their numbers are not codes, however few there are.
pub(super) const AMOUNT: &str = "\
    age agep amount children count days dependents height hour hours household kids length members \
    minutes months num number persons rooms score siblings size visits weeks weight wkhp year years \
    alter anzahl grosse groesse gewicht jahr kinder tage wochen stunden monate zahl \
    nombred annee jours semaines taille poids enfants edad altura peso hijos semanas dias \
    eta figli giorni altezza leeftijd kinderen lengte dagen aantal idade filhos wiek wzrost waga \
    dzieci liczba";

/// Words for the age of a person in years.
pub(super) const AGE: &str = "age agep alter edad eta leeftijd idade wiek";

/// Words for the code of a place that begins with the code of a larger place.
pub(super) const ZIP: &str = "\
    zip zipcode npa postcode postal postalcode plz postleitzahl codepostal codigopostal cap cep \
    kodpocztowy";

/// Words for levels of education.
pub(super) const EDUCATION: &str = "\
    degree educ education schl schooling bildung bildungsabschluss schulabschluss diplome etudes \
    educacion estudios istruzione titolodistudio opleiding escolaridade wyksztalcenie";

/// Words for countries.
pub(super) const COUNTRY: &str = "\
    ancestry birthplace citizenship country countryofbirth nation nationality native origin pob \
    geburtsland herkunft land nationalitat staat staatsangehorigkeit pays nationalite pais \
    nacionalidad paese nazionalita cittadinanza nationaliteit nacionalidade kraj obywatelstwo";

/// Words for what others know first of a person, in groups: the natural quasi-identifiers.
pub(super) const NATURAL: [&str; 5] = [
    // Age and sex.
    "age agep birth birthdate birthday birthyear born dateofbirth dob sex gender yearofbirth \
     alter geburt geburtsdatum geburtsjahr geburtstag geschlecht ne nee naissance datedenaissance \
     datenaissance sexe genre edad nacimiento fechadenacimiento fechanacimiento sexo genero eta \
     nascita datadinascita datanascita sesso genere leeftijd geboortedatum geboortejaar geslacht \
     idade nascimento datadenascimento datanascimento wiek urodzenia dataurodzenia rokurodzenia plec",
    // Where they live.
    "borough canton city commune county district municipality place postal postalcode postcode \
     province puma region residence state town village zip zipcode plz postleitzahl ort wohnort \
     stadt bundesland landkreis kreis gemeinde codepostal cp ville departement codigopostal ciudad \
     municipio provincia cap citta comune regione woonplaats plaats gemeente provincie cep cidade \
     distrito freguesia concelho npa estado kodpocztowy miasto miejscowosc gmina powiat wojewodztwo",
    // Where they come from.
    "ancestry birthplace cit citizenship country countryofbirth ethnicity hisp hispanic language \
     nationality native origin pob pobp rac race religion geburtsort geburtsland \
     staatsangehorigkeit nationalitat herkunft konfession sprache pays nationalite \
     lieudenaissance langue pais nacionalidad idioma paese nazionalita cittadinanza nationaliteit \
     taal nacionalidade kraj obywatelstwo narodowosc jezyk religione religiao geloof wyznanie \
     ethnie",
    // With whom they live.
    "child children family household mar marital maritalstatus married marstat relationship spouse \
     familienstand kinder haushalt etatcivil situationfamiliale enfants estadocivil hijos \
     statocivile figli burgerlijkestaat kinderen filhos stancywilny dzieci",
    // What they learnt and do, and their bodies.
    "class cow degree educ education employer employment esr height indp industry job mil military \
     occp occupation profession schl schooling school sector weight wkhp workclass beruf bildung \
     schulabschluss bildungsabschluss branche arbeitgeber grosse groesse korpergrosse gewicht \
     metier emploi diplome etudes taille poids profesion ocupacion educacion estudios altura \
     estatura peso professione occupazione istruzione titolodistudio altezza beroep opleiding \
     lengte profissao ocupacao escolaridade zawod wyksztalcenie wzrost waga",
];

/// Words for free texts.
pub(super) const FREE_TEXT: &str = "\
    comment description freetext memo message narrative note remark bemerkung kommentar anmerkung \
    freitext commentaire remarque comentario observaciones nota commento opmerking observacao uwagi";

/// Words for the sampling weight of a survey. Many are names of the column in well-known surveys:
/// `fnlwgt` (Adult), `pwgtp` (ACS), `perwt` (IPUMS), `wtfinl` (CPS), `anweight` (ESS).
pub(super) const SAMPLING_WEIGHT: &str = "\
    anweight asecwt calibrationweight caseweight designweight dweight expansionfactor finalweight \
    finalwgt finalwt finlwt fnlwgt grossingfactor hhwt hochrechnungsfaktor hwgt instanceweight \
    perwt personweight popweight populationweight pspwght pweight pwght pwgt pwgtp respondentweight \
    sampleweight samplewt samplingweight statisticalweight surveyweight surveywgt surveywt wgtp \
    wtfinl wtint wtmec gewichtungsfaktor ponderation ponderacao pesoamostral pesomuestral \
    pesocampionario steekproefgewicht";

/// Words that make a weight one of bodies and things.
pub(super) const BODY: &str = "\
    baby birth body cargo child current dry fetal goal gross kg lb lbs maternal net patient \
    pregnancy previous target usual vehicle";

/// Labels in their order, least first.
pub(super) const ORDERS: [&[&str]; 12] = [
    &["low", "medium", "high"],
    &["low", "middle", "high"],
    &["small", "medium", "large"],
    &["never", "rarely", "sometimes", "often", "always"],
    &["poor", "fair", "good", "very good", "excellent"],
    &["none", "mild", "moderate", "severe"],
    &["strongly disagree", "disagree", "neutral", "agree", "strongly agree"],
    &["niedrig", "mittel", "hoch"],
    &["gering", "mittel", "hoch"],
    &["nie", "selten", "manchmal", "oft", "immer"],
    &["keine", "leicht", "mittel", "schwer"],
    &["i", "ii", "iii", "iv", "v"],
];

/// The first word of the list that the name contains, also across its blanks and dashes (`first
/// name` is `firstname`), also in the plural.
pub(super) fn find(words: &[String], list: &'static str) -> Option<&'static str> {
    let runs = (0..words.len()).flat_map(|from| {
        (from + 1..=words.len().min(from + 4)).map(move |to| words[from..to].concat())
    });
    let runs: Vec<String> = runs.collect();
    let is = |run: &String, word: &str| run == word || run.strip_suffix('s') == Some(word);
    list.split_whitespace().find(|word| runs.iter().any(|run| is(run, word)))
}

/// The words of a column's name in lower case and without accents: cut at everything but letters and
/// between `camelCase` humps (`HIVStatus` too).
pub(super) fn words(name: &str) -> Vec<String> {
    let letters: Vec<char> = name.chars().collect();
    let mut words = vec![String::new()];
    for (i, &c) in letters.iter().enumerate() {
        let after_small = i > 0 && letters[i - 1].is_lowercase();
        let before_small = letters.get(i + 1).is_some_and(|next| next.is_lowercase());
        let hump = c.is_uppercase()
            && i > 0
            && (after_small || (letters[i - 1].is_uppercase() && before_small));
        if hump || !c.is_alphabetic() {
            words.push(String::new());
        }
        if c.is_alphabetic() {
            let word = words.last_mut().expect("never empty");
            for c in c.to_lowercase() {
                match without_accent(c) {
                    Some(letters) => word.push_str(letters),
                    None => word.push(c),
                }
            }
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// A letter with an accent as letters without; none where it has no accent.
fn without_accent(c: char) -> Option<&'static str> {
    Some(match c {
        'à' | 'á' | 'â' | 'ã' | 'ä' | 'å' | 'ą' => "a",
        'ç' | 'ć' | 'č' => "c",
        'è' | 'é' | 'ê' | 'ë' | 'ę' => "e",
        'ì' | 'í' | 'î' | 'ï' => "i",
        'ł' => "l",
        'ñ' | 'ń' => "n",
        'ò' | 'ó' | 'ô' | 'õ' | 'ö' | 'ø' => "o",
        'ś' | 'š' => "s",
        'ß' => "ss",
        'ù' | 'ú' | 'û' | 'ü' => "u",
        'ź' | 'ż' | 'ž' => "z",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_have_neither_accents_nor_capitals() {
        for (name, expected) in [
            ("Größe", &["grosse"][..]),
            ("né(e) le", &["ne", "e", "le"]),
            ("DateOfBirth", &["date", "of", "birth"]),
            ("płeć", &["plec"]),
            ("HIVStatus", &["hiv", "status"]),
            ("fecha de nacimiento", &["fecha", "de", "nacimiento"]),
        ] {
            assert_eq!(words(name), expected, "{name}");
        }
    }
}
