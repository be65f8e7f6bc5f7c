"""Small pieces of HTML for notebooks. Everything that is put in is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape


def table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table.

    Examples
    --------
    >>> table(["a<b"], [[1]])
    '<table><thead><tr><th>a&lt;b</th></tr></thead><tbody><tr><td>1</td></tr></tbody></table>'
    """
    head = "".join(f"<th>{escape(name)}</th>" for name in heads)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in row) + "</tr>" for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def facts(pairs: Iterable[tuple[str, object]]) -> str:
    """Names and values, one pair a line."""
    rows = "".join(
        f'<tr><th style="text-align:left">{escape(name)}</th>'
        f'<td style="text-align:left">{escape(str(value))}</td></tr>'
        for name, value in pairs
    )
    return f"<table><tbody>{rows}</tbody></table>"


def block(title: str, *parts: str) -> str:
    """A titled block."""
    return f"<div><p><strong>{escape(title)}</strong></p>{''.join(parts)}</div>"


def notes(texts: Iterable[str]) -> str:
    """A list of sentences; nothing where there are none."""
    items = "".join(f"<li>{escape(text)}</li>" for text in texts)
    return f"<ul>{items}</ul>" if items else ""


def framed(page: str, *, height: int) -> str:
    """A whole page in a frame of its own that may run no script.

    Examples
    --------
    >>> framed("<p>hello</p>", height=90)[:46]
    '<iframe sandbox="" srcdoc="&lt;p&gt;hello&lt;/'
    """
    return (
        f'<iframe sandbox="" srcdoc="{escape(page)}" width="100%" height="{height}" '
        'style="border:1px solid #ccc"></iframe>'
    )


def percent(share: float) -> str:
    """A share for people.

    Examples
    --------
    >>> percent(0.0393), percent(0.00001)
    ('3.9 %', '0.0 %')
    """
    return f"{100 * share:.1f} %"
