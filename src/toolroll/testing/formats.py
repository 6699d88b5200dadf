"""Made-up strings of the formats that pydantic writes into schemas; for all others any text is made."""

import re
from base64 import b64encode, urlsafe_b64encode
from datetime import UTC, datetime, time
from functools import cache
from typing import Final

from hypothesis import provisional
from hypothesis import strategies as st

OURS: Final = "toolroll:"
"""What stands before each name: hypothesis-jsonschema warns of everybody who replaces a format it knows."""


@cache
def formats() -> dict[str, st.SearchStrategy[str]]:
    """A strategy for each format."""
    zone = st.just(UTC)  # RFC 3339 has no times without a zone
    known = {
        "date": st.dates().map(str),
        "date-time": st.datetimes(timezones=zone).map(datetime.isoformat),
        "time": st.times(timezones=zone).map(time.isoformat),
        "duration": st.integers(0, 10**6).map("PT{}S".format),
        "uuid": st.uuids().map(str),
        "email": st.from_regex(r"[a-z]{1,9}\.[a-z]{1,9}@example\.(com|org)", fullmatch=True),
        "uri": provisional.urls(),
        "ipv4": st.ip_addresses(v=4).map(str),
        "ipv6": st.ip_addresses(v=6).map(str),
        "ipvanyaddress": st.ip_addresses().map(str),
        "base64": st.binary().map(b64encode).map(bytes.decode),
        "base64url": st.binary().map(urlsafe_b64encode).map(bytes.decode),
        "regex": st.text().map(re.escape),
    }
    return {OURS + name: strategy for name, strategy in known.items()}
