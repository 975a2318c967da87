"""Arithmetic on a written expression, by its syntax tree: nothing is evaluated as code."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from types import MappingProxyType

from memorepair.errors import InvalidInput

_BINARY: Mapping[type[ast.operator], Callable[[float, float], float]] = MappingProxyType(
    {
        ast.Add: operator.add,
        ast.Sub: operator.sub,
        ast.Mult: operator.mul,
        ast.Div: operator.truediv,
        ast.FloorDiv: operator.floordiv,
    }
)
_UNARY: Mapping[type[ast.unaryop], Callable[[float], float]] = MappingProxyType(
    {ast.UAdd: operator.pos, ast.USub: operator.neg}
)
_LONGEST = 1_000
"""Characters. Bounds the depth of the tree, and with it the recursion."""


def evaluate(expression: str) -> float:
    """Value of an expression of decimal numbers, + - * / // and parentheses.

    Raises
    ------
    InvalidInput
        Not such an expression, or longer than 1,000 characters; the witness is the expression.
    ArithmeticError
        A division by zero, or a number beyond float64.
    """
    if len(expression) > _LONGEST:
        raise InvalidInput(f"an expression has at most {_LONGEST} characters", witness=expression[:80])
    try:
        tree = ast.parse(expression.strip(), mode="eval").body
    except (SyntaxError, RecursionError, MemoryError) as error:
        raise InvalidInput("invalid syntax", witness=expression) from error
    return _value(tree, expression)


def _value(node: ast.expr, expression: str) -> float:
    match node:
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            return float(number)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
            return _BINARY[type(op)](_value(left, expression), _value(right, expression))
        case ast.UnaryOp(op=op, operand=operand) if type(op) in _UNARY:
            return _UNARY[type(op)](_value(operand, expression))
    raise InvalidInput("not an expression of numbers", witness=expression)
