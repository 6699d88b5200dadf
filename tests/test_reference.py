"""docs/api.md says what the code says."""

from docs.reference.make import PAGE, write_page


def test_the_reference_is_the_one_that_the_code_gives() -> None:
    assert PAGE.read_text(encoding="utf-8") == write_page(), "Run `make reference`."
