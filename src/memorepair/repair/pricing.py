"""Pricing: what a repaired artifact is worth and what its repair costs, without anybody having to say so."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from memorepair.errors import InvalidInput
from memorepair.graphs.terms import Kind
from memorepair.memory.artifact import Json, Key, Recipe
from memorepair.memory.exchange import Member
from memorepair.memory.values import check_type, check_word
from memorepair.repair.candidates import Candidates
from memorepair.repair.history import Estimate, History
from memorepair.repair.modes import Mode
from memorepair.repair.operators.attempt import number, told

DEFAULT_TRADEOFF = 0.3
"""lambda on the normalised scale: a repair of median cost must bring 0.3 of the median value."""

CHARACTERS_PER_TOKEN = 4
RECOMPUTE_SHARE = 0.25
"""Cost of running a function over a text, twice to see that it repeats, in parts of having a model read and
write it."""

HALF_LIFE_DAYS = 30.0
LEAST_RECENCY = 0.1
"""What was not used for ever is still worth this share of what is used today."""

_SHARE_OF_MODE: Mapping[Mode, float] = MappingProxyType(
    {Mode.RECOMPUTE: RECOMPUTE_SHARE, Mode.PARAM: RECOMPUTE_SHARE, Mode.REGEN: 1.0, Mode.REMOVE: 0.0}
)
_NO_RECIPE = Recipe()
_DAY = 86_400 * 10**9
_WORTH_OF_KIND: Mapping[Kind, float] = MappingProxyType(
    {Kind.RECORD: 1.0, Kind.CACHE: 1.0, Kind.SUMMARY: 2.0, Kind.SKILL: 4.0}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote:
    """What a pricing callable is shown of a candidate.

    Attributes
    ----------
    member
        The withdrawn artifact: kind, size, uses, dependents.
    mode, operator
        mu_i and pi_i (``name@version``, None where there is no successor).
    input_size
        Characters of what the operator will read; estimated where an input is not part of the cascade.
    price
        What it would be without the callable: the recipe's override, else the default.
    estimate
        What runs of the operator on inputs of this size have cost; None where none was measured.
    success
        Probability that the operator gives what can be published, from all its runs.
    """

    member: Member
    mode: Mode
    operator: str | None
    input_size: float
    price: float
    estimate: Estimate | None = None
    success: float = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Pricing:
    """The price list: w_i from use, c_i in tokens.

    Value: worth of the kind x (1 + ln(1 + uses)) x (1 + ln(1 + live dependents)) x recency, where recency
    halves every `half_life_days` since the last use, counted from the latest use in the cascade so that a
    plan does not depend on when it is made.

    Cost: what the operator has cost on inputs of this size where that was measured (`History`); else the
    tokens read and written, a character a quarter of a token, and a quarter of that for a recomputation or a
    model. Nothing for REMOVE.

    A recipe's `value` or `cost` overrides the default, `per_operator` overrides the cost of one execution, a
    callable has the last word.

    Attributes
    ----------
    value, cost
        ``Quote -> float``, finite and at least 0.
    per_operator
        Cost of one execution by ``name@version`` or bare name.
    half_life_days
        More than 0.
    unit
        Of all costs here, and of the operators' own measurements; those in another unit are left alone.
    weigh_success
        Whether a value counts in the probability that its repair succeeds: what will probably fail is worth
        less than what will not.
    """

    value: Callable[[Quote], float] | None = None
    cost: Callable[[Quote], float] | None = None
    per_operator: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    half_life_days: float = HALF_LIFE_DAYS
    unit: str = "tokens"
    weigh_success: bool = False

    def __post_init__(self) -> None:
        if not number(self.half_life_days):
            raise InvalidInput("the half life is a positive number of days", witness=self.half_life_days)
        check_type(self.weigh_success, bool, "weigh_success is True or False")
        check_word(self.unit, "the unit of a pricing")
        if not self.unit:
            raise InvalidInput("the unit of a pricing has a name", witness=self.unit)
        for name, given in (("value", self.value), ("cost", self.cost)):
            if given is not None and not callable(given):
                raise InvalidInput(f"the {name} of a pricing is a function", witness=type(given).__name__)
        check_type(self.per_operator, Mapping, "per_operator maps an operator's name to its cost")
        for operator, cost in self.per_operator.items():
            check_word(operator, "the name of an operator")
            if number(cost) is None:
                raise InvalidInput(f"operator {operator} costs {cost}, not finite and >= 0", witness=operator)

    def prices(
        self,
        members: Sequence[Member],
        modes: Sequence[Mode],
        operators: Sequence[str | None],
        *,
        input_sizes: npt.NDArray[np.float64],
        recipes: Mapping[Key, Recipe],
        history: History,
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Value and cost of k candidates.

        Parameters
        ----------
        input_sizes : (k,) float64
            Characters that each operator will read.
        recipes
            Where overrides are found; a key may be absent.
        history
            Of the operators that have run before, in this unit.

        Returns
        -------
        value, cost : (k,) float64
            Finite and at least 0.

        Raises
        ------
        InvalidInput
            An override or a callable gives no number, NaN, an infinity or less than 0, or the callable
            raises (witness: the artifact).
        """
        value = self._default_values(members)
        cost = self._default_costs(members, modes, input_sizes)
        shown = self.value is not None or self.cost is not None
        sizes, values, costs = input_sizes.tolist(), value.tolist(), cost.tolist()
        for place, (member, mode, operator) in enumerate(zip(members, modes, operators, strict=True)):
            recipe = recipes.get(member.key, _NO_RECIPE)
            estimate = None if operator is None else history.estimate(operator, sizes[place])
            success = 1.0 if operator is None else history.success(operator)
            worth = values[place] if recipe.value is None else recipe.value
            if self.weigh_success:
                worth *= success
            known = (recipe.cost, self._listed(operator), None if estimate is None else estimate.cost)
            dear = next((price for price in known if price is not None), costs[place])
            if shown:
                quote = Quote(
                    member=member,
                    mode=mode,
                    operator=operator,
                    input_size=sizes[place],
                    price=worth,
                    estimate=estimate,
                    success=success,
                )
                worth = _asked("value", self.value, quote)
                if mode is not Mode.REMOVE:
                    dear = _asked("cost", self.cost, replace(quote, price=dear))
            value[place] = _checked("value", member.key, worth)
            if mode is not Mode.REMOVE:
                cost[place] = _checked("cost", member.key, dear)
        return value, cost

    def told(self) -> dict[str, Json]:
        """What goes into the prices, for people."""
        worth: dict[str, Json] = {kind.name.lower(): value for kind, value in _WORTH_OF_KIND.items()}
        return {
            "unit": self.unit,
            "tradeoff": DEFAULT_TRADEOFF,
            "worth_of_kind": worth,
            "half_life_days": self.half_life_days,
            "least_recency": LEAST_RECENCY,
            "characters_per_token": CHARACTERS_PER_TOKEN,
            "recompute_share": RECOMPUTE_SHARE,
            "per_operator": dict[str, Json](self.per_operator),
            "weigh_success": self.weigh_success,
            "own_values": self.value is not None,
            "own_costs": self.cost is not None,
        }

    def _listed(self, operator: str | None) -> float | None:
        if operator is None:
            return None
        return self.per_operator.get(operator, self.per_operator.get(operator.partition("@")[0]))

    def _default_values(self, members: Sequence[Member]) -> npt.NDArray[np.float64]:
        worth = np.array([_WORTH_OF_KIND.get(member.kind, 1.0) for member in members], np.float64)
        uses = np.array([member.uses for member in members], np.float64)
        dependents = np.array([member.dependents for member in members], np.float64)
        last = np.array(
            [max(member.updated_at, member.last_accessed_at or 0) for member in members], np.int64
        )
        age = (last.max(initial=0) - last) / _DAY
        value: npt.NDArray[np.float64] = worth * (1 + np.log1p(uses)) * (1 + np.log1p(dependents))
        value *= np.maximum(np.exp2(-age / self.half_life_days), LEAST_RECENCY)
        return value

    @staticmethod
    def _default_costs(
        members: Sequence[Member], modes: Sequence[Mode], input_sizes: npt.NDArray[np.float64]
    ) -> npt.NDArray[np.float64]:
        written = np.array([member.size for member in members], np.float64)
        share = np.array([_SHARE_OF_MODE[mode] for mode in modes], np.float64)
        return share * (input_sizes + written) / CHARACTERS_PER_TOKEN


def _asked(name: str, callable_: Callable[[Quote], float] | None, quote: Quote) -> float:
    """The last word on a price: the callable's, where there is one."""
    key = quote.member.key
    try:
        given = quote.price if callable_ is None else callable_(quote)
    except Exception as error:
        raise InvalidInput(f"no {name} of {key} could be had: {told(error)}", witness=key) from error
    return _checked(name, key, given)


def _checked(name: str, key: Key, given: object) -> float:
    price = number(given)
    if price is None:
        raise InvalidInput(f"the {name} of {key} is not a number, finite and >= 0", witness=key)
    return price


def scale_of(candidates: Candidates) -> tuple[float, float]:
    """The medians of w and of c over the executable candidates: the value and the cost that count as 1.

    Entries that are 0 say nothing of the scale and are left out; where no entry is positive it is 1. O(k).
    """
    return (
        _median(candidates.value[candidates.executable]),
        _median(candidates.cost[candidates.executable]),
    )


def normalised(candidates: Candidates, scale: tuple[float, float] | None = None) -> Candidates:
    """The candidates with w and c in units of `scale`, so that a tradeoff means the same in every event.

    The scale is the candidates' own medians unless given. A case that is taken up again gives the one it
    began with: what was left for its price must not come in because what is left has other medians.
    """
    unit_value, unit_cost = scale or scale_of(candidates)
    return replace(
        candidates, value=candidates.value / unit_value, cost=candidates.cost / unit_cost, unit="medians"
    )


def _median(prices: npt.NDArray[np.float64]) -> float:
    positive = prices[prices > 0]
    return float(np.median(positive)) if len(positive) else 1.0
