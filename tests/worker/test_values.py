from __future__ import annotations

import pytest
from pydantic import SecretStr

from perdure.worker.values import check_secret_url, check_url, no_switch, read_command, read_keys, read_list, read_table

WITH_KEY = "https://u:canary@hooks.example/x?key=canary"


def test_text_is_read_as_a_list_a_command_or_a_table_and_other_values_stay() -> None:
    assert read_list(" a, b,,") == ["a", "b"]
    assert read_command("notify 'An agent' $HOME") == ["notify", "An agent", "$HOME"]
    assert read_table('{"a": 1}') == {"a": 1}
    for read in (read_list, read_command, read_table, read_keys):
        assert read({"https://wiki.example": "K"}) == {"https://wiki.example": "K"}


def test_text_that_is_no_json_is_told_without_repeating_it() -> None:
    with pytest.raises(ValueError, match="this is no JSON") as caught:
        read_table('{"a": "canary')
    assert "canary" not in str(caught.value)


def test_a_switch_is_no_number() -> None:
    assert no_switch(1) == 1
    with pytest.raises(ValueError, match="no number"):
        no_switch(True)


def test_an_address_that_all_may_see_holds_no_credential_and_a_secret_one_may() -> None:
    assert check_secret_url(SecretStr(WITH_KEY)).get_secret_value() == WITH_KEY
    for refused in (lambda: check_url(WITH_KEY), lambda: read_keys({WITH_KEY: "K"})):
        with pytest.raises(ValueError, match="neither a user nor a query") as caught:
            refused()
        assert "canary" not in str(caught.value)


def test_a_secret_address_that_cannot_be_used_is_refused_without_repeating_it() -> None:
    with pytest.raises(ValueError, match="a port from 1 to 65535") as caught:
        check_secret_url(SecretStr("https://hooks.example:99999/canary"))
    assert "canary" not in str(caught.value)
