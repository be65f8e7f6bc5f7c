"""The dialects of engines that are reached by ibis alone: Snowflake, BigQuery, Trino, SQL Server.

Their statements are compiled and read in tests; none of them has been run on a server.
"""

from __future__ import annotations

from collections.abc import Sequence

from ._sql import Dialect, Kind


def _distinct(one: str, other: str, kind: Kind) -> str:
    return f"{one} IS NOT DISTINCT FROM {other}"


def _as_texts(one: str, other: str, kind: Kind) -> str:
    # For an engine that cannot hash by IS NOT DISTINCT FROM, and wants literals of the right type.
    first, second = (f"coalesce(CAST({of} AS VARCHAR), '')" for of in (one, other))
    return f"{first} = {second} AND ({one} IS NULL) = ({other} IS NULL)"


def _hex_key(text: str) -> str:
    # Sixteen digits of hexadecimals in lower case: the order of texts is that of the bytes.
    return f"substr(sha256(CAST({text} AS VARCHAR)), 1, 16)"


def _bytes_key(text: str) -> str:
    # SHA256 gives bytes here.
    return f"substr(sha256({text}), 1, 8)"


def _joined(texts: Sequence[str]) -> str:
    """One text from several, different for different ones."""
    return " || ".join(f"CAST(length({text}) AS VARCHAR) || ':' || {text}" for text in texts)


def _snowflake_checksum(texts: Sequence[str]) -> str:
    return f"hash({', '.join(texts)})"  # 64 bits; a sum has 38 digits


def _bigquery_checksum(texts: Sequence[str]) -> str:
    return f"CAST(farm_fingerprint({_joined(texts)}) AS DECIMAL(38, 0))"


def _trino_checksum(texts: Sequence[str]) -> str:
    return (
        f"CAST(from_big_endian_64(xxhash64(to_utf8(CAST({_joined(texts)} AS VARCHAR)))) "
        "AS DECIMAL(38, 0))"
    )


def _tsql_checksum(texts: Sequence[str]) -> str:
    return f"CAST(CAST(substr(sha256({_joined(texts)}), 1, 7) AS BIGINT) AS DECIMAL(38, 0))"


SNOWFLAKE = Dialect("snowflake", _distinct, _hex_key, _snowflake_checksum)
BIGQUERY = Dialect("bigquery", _distinct, _bytes_key, _bigquery_checksum)
TRINO = Dialect("trino", _as_texts, _hex_key, _trino_checksum)
TSQL = Dialect(
    "tsql", _distinct, _bytes_key, _tsql_checksum, "row_number() OVER (ORDER BY (SELECT NULL))"
)
"""SQL Server 2022 or newer. Texts are hashed in the code page of their collation: best UTF-8."""

OF_BACKEND = {"snowflake": SNOWFLAKE, "bigquery": BIGQUERY, "trino": TRINO, "mssql": TSQL}
"""By the name that ibis has for a backend."""
