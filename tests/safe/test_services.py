"""Addresses that a user names for a service: what is one, and what would send a key in the open."""

import pytest

from toolroll.errors import UsageError
from toolroll.safe.services import is_loopback, service_address


def address(url: str) -> str:
    return service_address(url, service="a tea API", example="https://tea.example.com/v1")


@pytest.mark.parametrize(
    ("given", "used"),
    [
        ("https://tea.example.com/api/v3/", "https://tea.example.com/api/v3"),
        ("https://10.0.0.7:8443", "https://10.0.0.7:8443"),
        ("http://127.0.0.1:4010/", "http://127.0.0.1:4010"),
        ("http://[::1]:4010", "http://[::1]:4010"),
        ("http://localhost:80/x", "http://localhost/x"),
    ],
)
def test_S41_an_address_of_the_user_may_be_private(given: str, used: str) -> None:
    assert address(given) == used


@pytest.mark.parametrize(
    "given",
    [
        "http://tea.example.com",
        "http://10.0.0.7",
        "https://me:secret@tea.example.com",
        "https://tea.example.com/?a=b",
        "file:///etc/passwd",
        "sk-a-key-by-mistake",
        "http://[",
        "",
    ],
)
def test_S41_XW8_what_is_no_address_or_not_encrypted_is_refused_without_being_quoted(given: str) -> None:
    with pytest.raises(UsageError, match=r"is no address of a tea API\. Write it like https://tea") as refused:
        address(given)
    assert "secret" not in refused.value.message
    assert "mistake" not in refused.value.message


def test_S41_what_is_on_this_machine_is_known() -> None:
    found = [is_loopback(url) for url in ("http://localhost:1", "http://127.9.9.9", "http://a.example", "nothing")]
    assert found == [True, True, False, False]
