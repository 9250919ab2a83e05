"""vLLM behind the SUT protocol: the engine shared, the platforms apart."""
