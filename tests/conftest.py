"""What all tests share."""

pytest_plugins = ["perdure.testing.exits", "tests.servers"]
