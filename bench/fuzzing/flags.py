"""A request as flags and as TOML."""

import json

from . import hierarchies


def toml_text(text):
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")

def flags(request):
    """The request's columns and rules as flags."""
    words = []

    def join(role, flag):
        names = [column.name for column in request.of(role)]
        if names:
            words.extend([flag, ",".join(names)])

    join("quasi", "--qi")
    join("sensitive", "--sensitive")
    join("keep", "--keep")
    join("identifier", "--identifier")
    join("person", "--person")
    for column in request.of("keep") + request.of("sensitive"):
        words += ["--accept-dependent", column.name]
    for column in request.of("count"):
        words += ["--count", column.name]
    if request.reading:
        words += ["--persons", request.reading]
    if request.pseudonyms:
        words.append("--pseudonyms")
    words += ["-k", str(request.k)]
    for k, columns in request.k_on:
        words += ["--k-on", f"{k}:{','.join(c.name for c in columns)}"]
    for column in request.columns:
        if column.role == "quasi" and column.kind == "ordinal":
            words += ["--order", f"{column.name}={','.join(column.order)}"]
        elif (column.role == "quasi" and column.declared) or (column.role == "sensitive" and column.kind == "numeric"):
            words += ["--kind", f"{column.name}={column.kind}"]
        if column.role == "quasi" and column.tree is not None:
            tree = column.tree
            if tree.how == "file":
                words += ["--hierarchy", f"{column.name}={tree.file[0]}"]
            elif tree.how == "intervals":
                words += ["--hierarchy", f"{column.name}=intervals:{','.join(hierarchies.plain_number(w) for w in tree.levels)}"]
            else:
                words += ["--hierarchy", f"{column.name}={tree.how}:{','.join(str(level) for level in tree.levels)}"]
    for name, weight in request.weights.items():
        words += ["--weight", f"{name}={weight}"]
    for marker in request.markers:
        words += ["--missing", marker]
    names = {"alpha": "--alpha", "l": "--l", "distinct": "--distinct-l", "entropy": "--entropy-l", "t": "--t"}
    for rule in request.rules:
        name = rule.column.name
        if rule.name == "recursive":
            words += ["--recursive", f"{name}={rule.text}:{rule.second}"]
        else:
            words += [names[rule.name], f"{name}={rule.text}"]
        if rule.values:
            words += ["--values", f"{name}={','.join(rule.values[0])}"]
        if rule.distance:
            words += ["--distance", f"{name}={rule.distance}"]
    if request.suppress:
        words += ["--suppress", request.suppress[0]]
    return words

def toml(request):
    """The same as a TOML file."""
    lines = ["version = 1", f"k = {request.k}"]
    if request.markers:
        lines.append(f"missing = [{', '.join(toml_text(m) for m in request.markers)}]")
    if request.k_on:
        rules = [f"{{ k = {k}, columns = [{', '.join(toml_text(c.name) for c in columns)}] }}" for k, columns in request.k_on]
        lines.append(f"rules = [{', '.join(rules)}]")
    lines += [f"count = {toml_text(column.name)}" for column in request.of("count")]
    if request.reading:
        lines.append(f'persons = "{request.reading}"')
    if request.pseudonyms:
        lines += ["[output]", "pseudonyms = true"]
    lines.append("[columns]")
    for column in request.columns:
        if column.role == "count":
            continue
        parts = [f'role = "{column.role}"']
        if column.role in ("keep", "sensitive"):
            parts.append("dependent = true")
        if column.role == "quasi" and column.kind == "ordinal":
            parts.append(f"order = [{', '.join(toml_text(label) for label in column.order)}]")
        elif (column.role == "quasi" and column.declared) or (column.role == "sensitive" and column.kind == "numeric"):
            parts.append(f'kind = "{column.kind}"')
        if column.name in request.weights:
            parts.append(f"weight = {request.weights[column.name]}")
        if column.role == "quasi" and column.tree is not None:
            tree = column.tree
            if tree.how == "file":
                parts.append(f"hierarchy = {toml_text(tree.file[0])}")
            elif tree.how == "intervals":
                inner = [f"intervals = [{', '.join(hierarchies.plain_number(w) for w in tree.levels)}]"]
                if tree.origin:
                    inner.append(f"origin = {hierarchies.plain_number(tree.origin)}")
                for end in ("bottom", "top"):
                    if getattr(tree, end) is not None:
                        inner.append(f"{end} = {hierarchies.plain_number(getattr(tree, end))}")
                parts.append(f"hierarchy = {{ {', '.join(inner)} }}")
            else:
                levels = ", ".join(str(level) if tree.how == "prefix" else toml_text(level) for level in tree.levels)
                parts.append(f"hierarchy = {{ {tree.how} = [{levels}] }}")
        for rule in request.rules:
            if rule.column is not column:
                continue
            if rule.name == "recursive":
                parts.append(f"recursive = {{ c = {rule.text}, l = {rule.second} }}")
            elif rule.name in ("alpha", "t") and not rule.text.replace(".", "").isdigit():
                parts.append(f'{rule.name} = "{rule.text}"')
            else:
                parts.append(f"{rule.name} = {rule.text}")
            if rule.values:
                parts.append(f"values = [{', '.join(toml_text(text) for text in rule.values[0])}]")
            if rule.distance:
                parts.append(f'distance = "{rule.distance}"')
        lines.append(f"{toml_text(column.name)} = {{ {', '.join(parts)} }}")
    if request.suppress:
        lines += ["[limits]", f'suppress = "{request.suppress[0]}"']
    return "\n".join(lines) + "\n"

def search_flags(request):
    """Algorithm, publication, seed and threads: always flags."""
    words = ["--algorithm", request.algorithm, *request.extra, "--publish", request.publish]
    if request.snap:
        words.append("--snap")
    if request.input_order:
        words.append("--input-order")
    if request.raw:
        words.append("--raw-formulas")
    for name, scheme in request.schemes.items():
        if name is None:
            words += ["--scheme", scheme]
        elif not any(letter in name for letter in ",="):
            words += ["--scheme", f"{name}={scheme}"]
    return words
