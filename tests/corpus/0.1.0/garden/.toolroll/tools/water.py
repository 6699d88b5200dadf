from toolroll import tool


@tool
def water(bed: int) -> str:
    """Water a bed."""
    return f"bed {bed} is watered"
