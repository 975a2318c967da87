"""A message states a result by the rare values it repeats."""

from __future__ import annotations

import pytest

from memorepair.adapters.tau_bench.statements import brought, values_of_result, values_of_text
from memorepair.adapters.tau_bench.traces import ToolCall


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("Your reservation **4WQ150** is on flight HAT170.", {"4WQ150", "HAT170"}),
        ("It costs $1,255.50.", {"$1255.5"}),
        ("A refund of $100 on May 2nd", {"$100", "2024-05-02"}),
        ("created 2024-05-02T03:10:19", {"2024-05-02"}),
        ("on December 24, 2023", {"2023-12-24"}),
        ("mia_li_3668 pays with credit_card_4421486", {"mia_li_3668", "4421486"}),
        ("Certificate 7504069 of Mia Li", {"7504069", "Mia Li"}),
        ("Write to mia.li3818@example.com.", {"mia.li3818@example.com"}),
        ("You are welcome! Have a nice day.", set()),
    ],
)
def test_rare_values_of_a_text(text: str, values: set[str]) -> None:
    assert values_of_text(text) == values


@pytest.mark.parametrize(
    ("result", "values"),
    [
        ("255.0", {"$255"}),
        ("true", set()),
        ('{"prices": {"economy": 121}, "available_seats": {"economy": 12}}', {"$121"}),
        ('{"amount": -305, "insurance": true}', {"$305"}),
        ('[{"first_name": "Mia", "last_name": "Li"}]', {"Mia Li"}),
        ('{"payment_methods": {"gift_card_1234567": {}}}', {"1234567"}),
        ("Error: payment amount does not add up, total price is 305, but paid 255", {"$305", "$255"}),
        ("1e999", {"$Infinity"}),
    ],
)
def test_rare_values_of_a_result(result: str, values: set[str]) -> None:
    assert values_of_result(result) == values


def test_what_the_user_or_the_call_gave_is_not_brought_but_the_subject_is() -> None:
    call = ToolCall(
        message=0,
        tool="get_reservation_details",
        arguments={"reservation_id": "4WQ150"},
        result='{"reservation_id": "4WQ150", "flights": [{"flight_number": "HAT170", "date": "2024-05-22"}]}',
    )
    assert brought(call, {"2024-05-22"}) == {"4WQ150", "HAT170"}
