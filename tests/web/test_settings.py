"""The settings of the page: values with their origin, keys that are never sent back, rules and trust (S20, S21)."""

from dataclasses import replace
from pathlib import Path

from tests.web.conftest import Site

from toolroll.cli.actions.doctor.report import describe_everything
from toolroll.home.rules import RememberedRule, RuleBook
from toolroll.home.trust import TrustBook
from toolroll.kernel.call.context import utc_now
from toolroll.web.settings_api import SETTINGS_OPERATIONS, SettingsApi
from toolroll.web.settings_models import DoctorModel


def test_S20_a_setting_is_changed_checked_and_removed(site: Site) -> None:
    with site.browser() as client:
        changed = client.post("/api/settings", json={"name": "code.max_steps", "words": ["12"]})
        [steps] = [one for one in changed.json()["settings"] if one["name"] == "code.max_steps"]
        assert (steps["value"], steps["origin"], steps["words"]) == ("12", "user", ["12"])
        wrong = client.post("/api/settings", json={"name": "code.max_steps", "words": ["many"]})
        assert (wrong.status_code, wrong.json()["code"]) == (400, "usage")
        secret = client.post("/api/settings", json={"name": "anthropic_api_key", "words": ["sk-1"]})
        assert secret.status_code == 400
        assert client.post("/api/settings", json={"name": "code.max_steps", "words": None}).status_code == 200
        assert client.post("/api/settings", json={"name": "code.max_steps", "words": None}).status_code == 409


def test_S21_no_key_is_sent_back(site: Site) -> None:
    name, key = "ANTHROPIC_API_KEY", "sk-not-to-be-seen"
    api = SettingsApi(site.root, {**site.service.environment, name: key}, tuple)
    content = bytes(api._answer().body).decode()
    assert (name in content, '"place":"environment"' in content, key in content) == (True, True, False)
    with site.browser() as client:
        assert client.post("/api/settings/keys", json={"name": "NOBODY_KEY", "key": "x"}).status_code == 400
    assert [one.scope for one in SETTINGS_OPERATIONS] == ["page"] * len(SETTINGS_OPERATIONS)
    with site.client("admin") as client:  # a token is not the person at the page
        assert client.get("/api/settings").status_code == 401


def test_S20_rules_and_trust_are_listed_and_forgotten(site: Site) -> None:
    config = site.root / "home" / "config"
    rule = RememberedRule(
        tool="edit", fingerprint="f", place="pack code", path="a.py", workspace=str(site.root), added=utc_now()
    )
    RuleBook(config).add(rule)
    TrustBook(config).add(str(site.root), ".toolroll/tools/a.py", b"x")
    with site.browser() as client:
        found = client.get("/api/settings").json()
        [shown] = found["rules"]
        assert (shown["tool"], shown["path"]) == ("edit", "a.py")
        assert client.post("/api/settings/rules/forget", json={"id": shown["id"]}).json()["rules"] == []
        assert client.post("/api/settings/rules/forget", json={"id": shown["id"]}).status_code == 409
        [file] = found["trusted"]
        assert client.post("/api/settings/trust/forget", json=file).json()["trusted"] == []
    assert RuleBook(config).rules() == ()


def test_S20_mcp_servers_are_listed_without_secrets(site: Site) -> None:
    config = site.root / "home" / "config"
    args = 'args = ["--key", "sk-ant-abcdefghijklmnop"]'
    (config / "settings.toml").write_text(f'[mcp_servers.files]\ncommand = "files-server"\n{args}\n')
    with site.browser() as client:
        found = client.get("/api/settings").json()
    assert "sk-ant-abcdefghijklmnop" not in str(found)
    assert [(one["name"], one["origin"], one["tools"]) for one in found["servers"]] in (
        [("files", "settings", None)],
        [],  # without the SDK none is used, and a note says so
    )


def test_S20_the_doctor_looks_at_everything(tmp_path: Path, site: Site) -> None:
    service = replace(site.service, doctor=lambda: describe_everything(tmp_path))
    found = DoctorModel.model_validate({"findings": service.doctor()})
    assert {"ok", "missing"} & {one.status for one in found.findings}
    with site.browser() as client:
        assert client.post("/api/settings/doctor").json() == {"findings": []}  # nobody gave this site one
