"""The few fakes that all tests share: one world for each layer."""
