"""docs/api.md says what the code says."""

from docs.reference.make import PAGE, write_page


def test_the_reference_is_the_one_that_the_code_gives() -> None:
    assert PAGE.read_text(encoding="utf-8") == write_page(), "Run `make reference`."


def test_every_option_field_and_member_says_what_it_means() -> None:
    assert [line for line in write_page().splitlines() if line.endswith("|  |")] == []
