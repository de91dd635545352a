"""An ONNX graph as it is built: its inputs, nodes and constants, in order of creation."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

OPSET, IR_VERSION = 17, 8  # no newer than the operators need, so that older runtimes read it
OPSET_ML = 3  # of LabelEncoder, for categories
OUTPUTS = ("label", "scores")


class Graph:
    """Nodes and constants of a graph; `float32` is the type of its numeric inputs, else double."""

    def __init__(self, *, float32: bool = False) -> None:
        self.inputs: list[Any] = []
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.float32 = float32

    def numbers(self, name: str, shape: list[str | int | None], doc: str = "") -> str:
        """A numeric input; the name of its values as doubles."""
        from onnx import TensorProto, helper

        kind = TensorProto.FLOAT if self.float32 else TensorProto.DOUBLE
        self.inputs.append(helper.make_tensor_value_info(name, kind, shape, doc))
        return self.add("Cast", [name], to=double()) if self.float32 else name

    def strings(self, name: str, shape: list[str | int | None], doc: str = "") -> str:
        """An input of text."""
        from onnx import TensorProto, helper

        self.inputs.append(helper.make_tensor_value_info(name, TensorProto.STRING, shape, doc))
        return name

    def add(self, operator: str, inputs: list[str], name: str = "", **attributes: Any) -> str:
        """A node; the name of its output."""
        from onnx import helper

        name = name or self._new(operator.lower())
        self.nodes.append(helper.make_node(operator, inputs, [name], **attributes))
        return name

    def _new(self, what: str) -> str:
        return f"/{what}_{len(self.nodes)}"  # no feature is called so: `onnx_inputs` sees to it

    def split(self, value: str, parts: int, axis: int) -> list[str]:
        """The parts of equal size of a value."""
        from onnx import helper

        if parts == 1:
            return [value]
        whole = self._new("split")
        names = [f"{whole}_{k}" for k in range(parts)]
        self.nodes.append(helper.make_node("Split", [value], names, axis=axis))
        return names

    def constant(self, value: Any) -> str:
        """A constant array."""
        from onnx import numpy_helper

        name = f"/constant_{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def model(self, labels: npt.NDArray[Any], n_classes: int) -> Any:
        """The whole as a checked model."""
        from onnx import TensorProto, checker, helper

        kind = {"i": TensorProto.INT64, "f": TensorProto.DOUBLE, "O": TensorProto.STRING}[labels.dtype.kind]
        shape: list[str | int | None] = ["n"] if n_classes == 2 else ["n", n_classes]
        graph = helper.make_graph(
            self.nodes,
            "novikoff",
            self.inputs,
            [
                helper.make_tensor_value_info(OUTPUTS[0], kind, ["n"]),
                helper.make_tensor_value_info(OUTPUTS[1], TensorProto.DOUBLE, shape),
            ],
            self.constants,
        )
        opsets = [helper.make_opsetid("", OPSET)]
        if any(node.domain for node in self.nodes):
            opsets.append(helper.make_opsetid("ai.onnx.ml", OPSET_ML))
        model = helper.make_model(
            graph, producer_name="novikoff", opset_imports=opsets, ir_version=IR_VERSION
        )
        checker.check_model(model, full_check=True)
        return model


def double() -> int:
    """ONNX's number of the type double."""
    from onnx import TensorProto

    return int(TensorProto.DOUBLE)


def int64() -> int:
    """ONNX's number of the type int64."""
    from onnx import TensorProto

    return int(TensorProto.INT64)
