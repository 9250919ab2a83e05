"""SUT: answers samples with tokens. Knows engines; knows neither LoadGen nor the rules."""
