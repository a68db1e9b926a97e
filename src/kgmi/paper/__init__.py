"""The paper's experiments, one module each: configuration, run, drawing, claim against measurement."""
