"""Files of models: the container of facts and arrays, the text form, ONNX."""

from novikoff.lazy import attach

attach(__name__)
