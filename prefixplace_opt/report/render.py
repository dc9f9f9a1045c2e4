"""Tables as Markdown, CSV and HTML."""

from __future__ import annotations

import csv
import html
import io
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .table import Column, Table

STYLE = """body{font:15px/1.45 system-ui,sans-serif;margin:2rem;color:#1b1f24}
table{border-collapse:collapse;margin:0 0 2rem}
th,td{padding:.25rem .7rem;border-bottom:1px solid #d9dee3;text-align:right}
th{border-bottom:2px solid #57606a}
.text{text-align:left}tbody tr:hover{background:#f3f6f9}"""


def as_markdown(tables: Iterable[Table]) -> str:
    """Return the tables as GitHub-flavoured Markdown, one heading each."""
    parts = []
    for table in tables:
        lines = [
            f"## {table.title}",
            "",
            _row(column.heading for column in table.columns),
            _row("---" if column.kind == "text" else "---:" for column in table.columns),
            *(_row(cells) for cells in table.text()),
            *(["", table.note] if table.note else []),
        ]
        parts.append("\n".join(lines) + "\n")
    return "\n".join(parts)


def as_csv(table: Table) -> str:
    """Return the raw values as CSV with a heading line of the columns' keys."""
    stream = io.StringIO()
    writer = csv.DictWriter(stream, [column.key for column in table.columns], lineterminator="\n")
    writer.writeheader()
    writer.writerows(table.records())
    return stream.getvalue()


def as_html(tables: Iterable[Table], title: str) -> str:
    """Return one self-contained page with all tables; it loads nothing."""
    name = html.escape(title)
    body = "".join(_section(table) for table in tables)
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{name}</title>\n'
        f"<style>{STYLE}</style></head>\n<body><h1>{name}</h1>\n{body}</body></html>\n"
    )


def _row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"


def _section(table: Table) -> str:
    head = "".join(_cell("th", column, column.heading) for column in table.columns)
    rows = "".join(
        "<tr>"
        + "".join(
            _cell("td", column, cell) for column, cell in zip(table.columns, cells, strict=True)
        )
        + "</tr>\n"
        for cells in table.text()
    )
    return (
        f"<h2>{html.escape(table.title)}</h2>\n<table><thead><tr>{head}</tr></thead>\n"
        f"<tbody>\n{rows}</tbody></table>\n"
        + (f"<p>{html.escape(table.note)}</p>\n" if table.note else "")
    )


def _cell(tag: str, column: Column, text: str) -> str:
    kind = ' class="text"' if column.kind == "text" else ""
    return f"<{tag}{kind}>{html.escape(text)}</{tag}>"
