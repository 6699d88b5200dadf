"""Every way that each command of both programs can end: what is typed, what is there before, and the exit code."""

import sys
from typing import NamedTuple

from tests.mcp_client.scripted import SCRIPT
from tests.support.scene import Words


class End(NamedTuple):
    """One way to end: `line` without the command's own words, `has` what is there before, `error` the code of it."""

    code: int
    line: str = ""
    error: str = ""
    has: str = ""
    first: str = ""
    stdin: str = ""


DEPLOY = ".toolroll/tools/deploy.py"
NO_RUN = "3f9c3f9c"
MINE = "config set model opus"
KEY_NAME = "OPENAI_API_KEY"
SECRET = "canary-of-a-key-0123456789\n"

ENDS: dict[Words, tuple[End, ...]] = {
    ("code",): (
        End(0, "Go. --model {answer}"),
        End(1, "Go. --model {silent}", "invalid_request"),
        End(1, "Go. --model scripted:no.json", "file_not_found"),
        End(2, "Go.", "usage"),
        End(2, "", "usage"),
        End(2, "Go. --max-steps 0", "usage"),
        End(2, "Go. --root nowhere", "usage"),
        End(2, "Go. --yes --read-only --model {answer}", "usage"),
        End(3, "Go. --model {change}"),
        End(4, "Go. --model {endless} --max-steps 1"),
        End(1, "Go. --model {answer}", "journal", has="broken_log"),
        End(2, "Go. --model {answer}", "usage", has="broken_settings"),
        End(1, "Go. --model {wordy}", "journal", has="good_settings no_log run torn_log"),
    ),
    ("run",): (
        End(0, "Go. --model {answer}"),
        End(1, "Go. --model {silent}", "invalid_request"),
        End(2, "Go. --model nobody:x", "usage"),
        End(2, "", "usage"),
        End(2, "Go. --max-steps x", "usage"),
        End(1, "Go. --from nowhere.py --model {answer}", "file_not_found"),
        End(3, "Go. --pack code --model {change}"),
        End(4, "Go. --pack code --model {endless} --max-steps 1"),
        End(1, "Go. --model {answer}", "journal", has="broken_log"),
    ),
    ("explore", "run"): (
        End(0, "Tea --model {research}"),
        End(1, "Other --model {silent}", "invalid_request"),
        End(1, "Other --model {research} --continue-from nothing", "file_not_found"),
        End(2, "", "usage"),
        End(2, "Tea --mode nothing --model {research}", "usage"),
        End(2, "Tea --update --continue-from x", "usage"),
        End(2, "Tea --ideas x --repo a/b", "usage"),
        End(2, "Tea --queue --at yesterday --model {research}", "usage"),
        End(2, "Tea --every 5x --model {research}", "usage"),
        End(2, "Tea --webhook https://example.com/ --model {research}", "usage"),
        End(1, "Tea --queue --webhook https://10.0.0.1/ --model {research}", "url_refused"),
        End(4, "Half --model {half}", has="no_ideas"),
        End(1, "Other --model {research}", "journal", has="broken_log"),
    ),
    ("explore", "list"): (
        End(0, has="idea"),
        End(0, "--ideas nowhere"),
        End(2, "--repo nonsense", "usage"),
        End(2, "--branch x", "usage"),
        End(2, "--nothing", "usage"),
        End(1, "", "not_a_file", has="file_for_ideas"),
    ),
    ("explore", "show"): (
        End(0, "tea", has="idea"),
        End(1, "coffee", "file_not_found"),
        End(2, "", "usage"),
        End(2, "tea --ideas x --repo a/b", "usage"),
    ),
    ("write", "write"): (
        End(0, "Tea --model {post}", has="profile"),
        End(0, "--demo"),
        End(1, "Tea --model {silent}", "invalid_request"),
        End(1, "Tea --model {post} --profile nobody", "profile_not_found"),
        End(2, "Tea", "usage"),
        End(2, "", "usage"),
        End(2, "Tea --platform nothing --model {post}", "usage"),
        End(2, "Tea --lang xx", "usage"),
        End(3, "Tea --model {saving}"),
        End(1, "Tea --model {post}", "journal", has="broken_log"),
    ),
    ("write", "init"): (
        End(0, "--sample --yes"),
        End(0, "--from post0.md --model {profile} --yes"),
        End(1, "--from nowhere.md --model {profile} --yes", "file_not_found"),
        End(1, "--from post0.md --model {silent} --yes", "invalid_request"),
        End(2, "--sample --from post0.md --yes", "usage"),
        End(2, "--lang xx", "usage"),
        End(2, "--from post0.md --yes", "usage"),
        End(3, "--from post0.md --model {profile}", "needs_approval"),
    ),
    ("write", "profile", "create"): (
        End(0, "mine --from post0.md --model {profile} --yes"),
        End(1, "mine --from nowhere.md --model {profile} --yes", "file_not_found"),
        End(1, "mine --from post0.md --model {silent} --yes", "invalid_request"),
        End(2, "", "usage"),
        End(1, "../mine --from post0.md --model {profile} --yes", "path_validation"),
        End(3, "yours --from post0.md --model {profile}", "needs_approval"),
    ),
    ("write", "profile", "delete"): (
        End(0, "other --yes", has="profile"),
        End(1, "nobody --yes", "profile_not_found"),
        End(2, "default --yes", "usage"),
        End(2, "", "usage"),
        End(3, "other", "needs_approval", has="profile"),
    ),
    ("write", "profile", "edit"): (
        End(1, "nobody", "profile_not_found"),
        End(2, "default --lang xx", "usage"),
        End(2, "default", "usage", has="profile"),
    ),
    ("write", "profile", "export"): (
        End(0, "default", has="profile"),
        End(1, "nobody", "profile_not_found"),
        End(1, "default --output post0.md", "file_exists"),
        End(2, "", "usage"),
    ),
    ("write", "profile", "import"): (
        End(0, "made.json --yes", has="profile made"),
        End(1, "nowhere.json", "file_not_found"),
        End(1, "post0.md", "profile_invalid"),
        End(2, "", "usage"),
        End(3, "made.json", "needs_approval"),
    ),
    ("write", "profile", "list"): (End(0), End(2, "more", "usage"), End(2, "--lang xx", "usage")),
    ("write", "profile", "show"): (
        End(0, "other", has="profile"),
        End(1, "nobody", "profile_not_found"),
        End(2, "other more", "usage"),
    ),
    ("write", "analyze"): (
        End(0, "post0.md post1.md --model {compared}", has="profile"),
        End(0, "post0.md --model {compared} --yes"),
        End(1, "nowhere.md --model {compared}", "file_not_found"),
        End(1, "post0.md --model {silent}", "invalid_request"),
        End(1, "post0.md --model {compared} --profile nobody", "profile_not_found"),
        End(2, "", "usage"),
        End(2, "post0.md", "usage"),
    ),
    ("write", "posts", "list"): (End(0), End(2, "more", "usage"), End(1, "", "not_a_file", has="file_for_posts")),
    **{
        ("write", "posts", name): (
            End(0, "tea", has="post"),
            End(1, "coffee", "file_not_found"),
            End(2, "one two", "usage"),
        )
        for name in ("show", "copy", "open")
    },
    ("write", "stats"): (End(0), End(2, "more", "usage"), End(1, "", "invalid_json", has="broken_feedback")),
    ("write", "feedback", "list"): (End(0), End(2, "more", "usage"), End(1, "", "invalid_json", has="broken_feedback")),
    ("write", "completion"): (End(0, "zsh"), End(2, "tcsh", "usage"), End(2, "", "usage")),
    ("write", "feedback", "reset"): (
        End(0, "--yes"),
        End(2, "nonsense --yes", "usage"),
        End(3, "", "needs_approval", has="feedback"),
        End(1, "--yes", "invalid_json", has="broken_feedback"),
    ),
    ("tools", "list"): (End(0), End(1, "--from broken.py", "tool_definition"), End(2, "--pack nothing", "usage")),
    ("tools", "show"): (End(0, "done"), End(1, "nothing", "unknown_tool"), End(2, "", "usage")),
    ("tools", "schema"): (
        End(0, "done --strict"),
        End(1, "nothing", "unknown_tool"),
        End(2, "done --provider openai", "usage"),
        End(2, "", "usage"),
    ),
    ("call",): (
        End(0, 'done {{"message":"x"}}'),
        End(0, "read_file -", stdin='{"path": "post0.md"}'),
        End(1, 'read_file {{"path":"nowhere"}}'),
        End(1, "read_file {{", ""),
        End(1, "nothing"),
        End(2, "", "usage"),
        End(2, "done --root nowhere", "usage"),
        End(3, 'create_file {{"path":"x","content":"y","description":"z"}}'),
    ),
    ("jobs", "list"): (
        End(0, has="job"),
        End(0, "--state dead"),
        End(2, "--limit 0", "usage"),
        End(1, "", "journal", has="broken_queue"),
    ),
    ("jobs", "show"): (End(0, "{job}", has="job"), End(1, NO_RUN, "journal"), End(2, "", "usage")),
    ("jobs", "watch"): (
        End(0, "{done_job}", has="done_job"),
        End(1, NO_RUN, "journal"),
        End(2, "--limit 3", "usage"),
        End(3, "{waiting_job}", has="waiting_job"),
    ),
    ("jobs", "cancel"): (
        End(0, "{job}", has="job"),
        End(1, NO_RUN, "journal"),
        End(2, "{done_job}", "usage", has="done_job"),
        End(2, "", "usage"),
    ),
    ("jobs", "retry"): (
        End(0, "{job}", has="job", first="jobs cancel {job}"),
        End(1, NO_RUN, "journal"),
        End(2, "{done_job}", "usage", has="done_job"),
        End(2, "", "usage"),
    ),
    ("jobs", "notify"): (
        End(0, "{told_job}", has="told_job"),
        End(1, "{told_job}", "webhook_failed", has="told_job", first="config set webhooks.hosts localhost"),
        End(1, NO_RUN, "journal"),
        End(2, "{done_job}", "usage", has="done_job"),
        End(2, "{job}", "usage", has="job"),
        End(2, "", "usage"),
    ),
    ("jobs", "approve"): (
        End(0, "{waiting_job}", has="waiting_job"),
        End(1, "{waiting_job} edit_9", "decision_refused", has="waiting_job"),
        End(1, NO_RUN, "journal"),
        End(2, "{done_job}", "usage", has="done_job"),
        End(2, "", "usage"),
    ),
    ("jobs", "reject"): (
        End(0, "{waiting_job} edit_1 --why No.", has="waiting_job"),
        End(1, "{waiting_job} edit_9", "decision_refused", has="waiting_job"),
        End(1, NO_RUN, "journal"),
        End(2, "{done_job}", "usage", has="done_job"),
        End(2, "", "usage"),
    ),
    ("jobs", "schedules", "list"): (
        End(0, has="schedule"),
        End(2, "more", "usage"),
        End(1, "", "journal", has="broken_log"),
    ),
    ("jobs", "schedules", "remove"): (
        End(0, "{schedule}", has="schedule"),
        End(1, NO_RUN, "journal"),
        End(2, "", "usage"),
    ),
    ("worker",): (
        End(0, "--drain", has="job"),
        End(2, "--concurrency 0", "usage"),
        End(1, "--drain", "journal", has="broken_queue"),
    ),
    ("serve",): (
        End(2, "--host 0.0.0.0", "usage"),
        End(2, "--api --port x", "usage"),
        End(2, "--api --branch x", "usage"),
    ),
    ("write", "serve"): (End(2, "--port x", "usage"), End(2, "more", "usage")),
    ("mcp", "serve"): (
        End(2, "--yes --read-only", "usage"),
        End(2, "--pack nothing", "usage"),
        End(2, "--port 9000", "usage"),
        End(1, "--from nowhere.py", "file_not_found"),
    ),
    ("mcp", "install"): (
        End(0, "claude-code --print"),
        End(2, "nano", "usage"),
        End(2, "cursor --pack nothing", "usage"),
        End(3, "claude-code --name other", "needs_approval"),
        End(1, "claude-code", "invalid_json", has="broken_client"),
    ),
    ("mcp", "questions"): (
        End(0, has="client_question"),
        End(2, "more", "usage"),
        End(1, "", "journal", has="broken_log"),
    ),
    ("mcp", "approve"): (
        End(0, "{client_call}", has="client_question"),
        End(1, "nothing", "decision_refused"),
        End(2, "", "usage"),
    ),
    ("mcp", "reject"): (
        End(0, "{client_call} --why no", has="client_question"),
        End(1, "nothing", "decision_refused"),
        End(2, "", "usage"),
    ),
    ("mcp", "add"): (
        End(0, "s --no-test -- server", first="mcp remove s"),
        End(2, "s", "usage"),
        End(2, "s --no-test -- server", "usage", first="mcp add s --no-test -- server"),
        End(1, "s --url http://x.example/mcp", "url_refused"),
    ),
    ("mcp", "list"): (End(0, first="mcp add s --no-test -- server"), End(2, "--root nowhere", "usage")),
    ("mcp", "test"): (
        End(0, "s", first=f"mcp add s --no-test -- {sys.executable} -S {SCRIPT}"),
        End(2, "nothing", "usage"),
        End(1, "broken", "mcp_server", first="mcp add broken --no-test -- /bin/false"),
    ),
    ("mcp", "remove"): (
        End(0, "s", first="mcp add s --no-test -- server"),
        End(1, "s", "no_server"),
        End(2, "", "usage"),
    ),
    ("mcp", "login"): (
        End(0, "s --out", first="mcp add s --no-test --oauth --url https://x.example/mcp"),
        End(1, "t", "mcp_server", first="mcp add t --no-test --oauth --url http://127.0.0.1:9/mcp"),
        End(2, "nothing", "usage"),
    ),
    ("tokens", "create"): (
        End(0, "laptop", first="tokens revoke laptop"),
        End(2, "a/b", "usage"),
        End(2, "laptop --scope nothing", "usage"),
        End(1, "laptop", "invalid_json", has="broken_tokens"),
    ),
    ("tokens", "webhook-secret"): (
        End(0, "--new"),
        End(2, "", "usage", first="tokens webhook-secret"),
        End(2, "more", "usage"),
    ),
    ("tokens", "list"): (End(0), End(2, "more", "usage"), End(1, "", "invalid_json", has="broken_tokens")),
    ("tokens", "revoke"): (
        End(0, "laptop", first="tokens create laptop"),
        End(1, "nobody", "not_found"),
        End(2, "", "usage"),
        End(1, "laptop", "invalid_json", has="broken_tokens"),
    ),
    ("runs", "list"): (End(0, has="run"), End(1, "", "journal", has="broken_log"), End(2, "--limit 0", "usage")),
    ("runs", "show"): (
        End(0, "{run}", has="run"),
        End(0, "{run} --context"),
        End(1, NO_RUN, "journal"),
        End(2, "", "usage"),
        End(1, "{run}", "journal", has="broken_log"),
    ),
    ("runs", "resume"): (
        End(0, "{waiting} --reject edit_1", has="waiting"),
        End(1, NO_RUN, "journal"),
        End(1, "{waiting} --prompt x --model {silent}", "invalid_request", has="waiting"),
        End(2, "{waiting} --approve edit_1 --reject edit_1", "usage"),
        End(2, "", "usage"),
        End(3, "{waiting}", has="waiting"),
        End(4, "{limited} --prompt more --max-steps 1 --model {endless}", has="limited"),
        End(1, "{waiting}", "journal", has="broken_log"),
    ),
    ("runs", "replay"): (
        End(0, "{run}", has="run"),
        End(1, "{run}", has="run changed_file"),
        End(1, NO_RUN, "journal"),
        End(2, "", "usage"),
        End(2, "{run} --max-steps 0", "usage"),
        End(1, "{run}", "journal", has="broken_log"),
    ),
    ("runs", "fork"): (
        End(0, "{run} --at 2 --model {change}", has="run"),
        End(1, NO_RUN + " --at 2", "journal"),
        End(1, "{run} --at 2 --model {silent}", "invalid_request"),
        End(2, "{run}", "usage"),
        End(2, "{run} --at x", "usage"),
        End(3, "{run} --at 2 --model {late}"),
        End(4, "{run} --at 2 --model {endless} --max-steps 1"),
        End(1, "{run} --at 2", "journal", has="broken_log"),
    ),
    ("runs", "export"): (
        End(0, "{run} --output run.html --force", has="run"),
        End(1, NO_RUN + " --output x.jsonl", "journal"),
        End(1, "{run} --output run.html", "file_exists"),
        End(1, "{run} --output no/where.html", "file_not_found"),
        End(2, "{run} --output src", "usage"),
        End(2, "{run} --format pdf --output x", "usage"),
        End(2, "", "usage"),
        End(1, "{run} --output x.html", "journal", has="broken_log"),
    ),
    ("runs", "delete"): (
        End(0, "{run} --yes", has="run"),
        End(0, "--older-than 9 --yes"),
        End(1, NO_RUN + " --yes", "journal"),
        End(1, "{waiting} --yes", "journal", has="waiting"),
        End(2, "", "usage"),
        End(2, "--older-than -1", "usage"),
        End(3, "{run}", "needs_approval", has="run"),
        End(1, "{run} --yes", "journal", has="broken_log"),
    ),
    ("stats",): (End(0, has="run"), End(1, "", "journal", has="broken_log"), End(2, "--since 0", "usage")),
    ("outputs", "list"): (
        End(0, has="run"),
        End(2, "--limit x", "usage"),
        End(1, "", "not_a_file", has="file_for_outputs"),
    ),
    ("outputs", "show"): (
        End(0, "{ref}", has="run"),
        End(1, "nothing", "not_found"),
        End(2, "{ref} --offset -1", "usage"),
        End(2, "", "usage"),
    ),
    ("outputs", "grep"): (
        End(0, "{ref} line", has="run"),
        End(1, "{ref} nothing-like-it"),
        End(1, "nothing x", "not_found"),
        End(1, "{ref} ( --regex", "invalid_pattern"),
        End(2, "{ref}", "usage"),
    ),
    ("changes",): (
        End(0, has="changed"),
        End(2, "--root nowhere", "usage"),
        End(2, "--limit 0", "usage"),
        End(1, "", "journal", has="broken_history"),
    ),
    ("undo",): (
        End(0, "{change_id} --yes", has="changed"),
        End(2, "nothing --yes", "usage"),
        End(2, "a b", "usage"),
        End(2, "--root nowhere", "usage"),
        End(3, "{change_id}", "needs_approval", has="changed"),
        End(1, "--yes", "journal", has="broken_history"),
    ),
    ("redo",): (
        End(0, "{change_id} --yes", has="undone"),
        End(2, "nothing --yes", "usage"),
        End(2, "a b", "usage"),
        End(3, "{change_id}", "needs_approval", has="undone"),
        End(1, "--yes", "journal", has="broken_history"),
    ),
    ("index",): (
        End(0),
        End(2, "", "usage", has="broken_settings"),
        End(2, "--root nowhere", "usage"),
        End(1, "", "not_a_file", has="good_settings file_for_workspaces"),
    ),
    ("policy", "list"): (
        End(0, has="rule"),
        End(2, "", "usage", has="broken_settings"),
        End(2, "x", "usage"),
        End(1, "", "invalid_json", has="good_settings broken_rules"),
    ),
    ("policy", "explain"): (
        End(0, "edit src/main.js"),
        End(1, "nothing", "unknown_tool"),
        End(2, "", "usage"),
        End(2, "edit --pack nothing", "usage"),
    ),
    ("policy", "forget"): (
        End(0, "1", has="rule"),
        End(2, "9", "usage"),
        End(2, "x", "usage"),
        End(2, "", "usage"),
        End(1, "1", "invalid_json", has="good_settings broken_rules"),
    ),
    ("trust", "list"): (End(0), End(2, "--root nowhere", "usage"), End(1, "", "invalid_json", has="broken_trust")),
    ("trust", "add"): (
        End(0, f"{DEPLOY} --yes"),
        End(2, ".toolroll/tools/nothing.py --yes", "usage"),
        End(2, "", "usage"),
        End(3, DEPLOY, "needs_approval", first=f"trust remove {DEPLOY}"),
        End(1, f"{DEPLOY} --yes", "invalid_json", has="broken_trust"),
    ),
    ("trust", "remove"): (
        End(0, DEPLOY, first=f"trust add {DEPLOY} --yes"),
        End(1, DEPLOY, "not_trusted"),
        End(2, "", "usage"),
    ),
    ("config", "list"): (
        End(0),
        End(2, "", "usage", has="broken_settings"),
        End(2, "--root nowhere", "usage"),
        End(1, "", "not_a_file", has="folder_for_settings"),
    ),
    ("config", "get"): (
        End(0, "code.max_steps"),
        End(1, "model"),
        End(2, "nothing", "usage"),
        End(2, "", "usage"),
        End(2, "model", "usage", has="broken_settings"),
    ),
    ("config", "set"): (
        End(0, "model opus"),
        End(2, "nothing x", "usage"),
        End(2, "code.max_steps x", "usage"),
        End(2, "model", "usage"),
        End(2, "model opus", "usage", has="broken_settings"),
        End(1, "model opus", "not_a_file", has="folder_for_settings"),
    ),
    ("config", "unset"): (
        End(0, "model", first=MINE),
        End(1, "model", "not_set"),
        End(1, "nothing", "not_set"),
        End(2, "", "usage"),
        End(2, "model", "usage", has="broken_settings"),
    ),
    ("config", "path"): (End(0), End(0, has="broken_settings"), End(2, "--root nowhere", "usage")),
    ("config", "key", "set"): (
        End(0, KEY_NAME, stdin=SECRET),
        End(2, KEY_NAME, "usage"),
        End(2, "MY_KEY", "usage", stdin=SECRET),
        End(2, "", "usage"),
        End(1, KEY_NAME, "keyring", stdin=SECRET, has="no_ring"),
    ),
    ("config", "key", "delete"): (
        End(0, KEY_NAME, first=f"config key set {KEY_NAME}", stdin=SECRET),
        End(1, KEY_NAME, "not_set"),
        End(2, "MY_KEY", "usage"),
        End(2, "", "usage"),
    ),
    ("config", "key", "list"): (End(0), End(2, "more", "usage"), End(1, "", "not_a_file", has="folder_for_names")),
    ("doctor",): (End(0), End(2, "--root nowhere", "usage"), End(1, has="broken_settings")),
    ("completion",): (End(0, "zsh"), End(2, "tcsh", "usage"), End(2, "", "usage")),
    ("demo",): (End(0), End(2, "--ask", "usage"), End(2, "more", "usage")),
}


IN_LINES = {("code",), ("run",), ("explore", "run"), ("write", "write"), ("runs", "resume"), ("runs", "fork")}
ONLY_SHOWN = {("write", "analyze"), ("explore", "run"), ("mcp", "serve")}
"""Where nobody can be asked it does what needs no consent, and has done what it was asked for."""
WITH_ANSWER: set[Words] = {("write", "stats")}
"""Where what could be found is told beside the error."""
AT_A_TERMINAL: set[Words] = {("write", "profile", "edit"), ("write", "serve"), ("serve",), ("mcp", "serve")}
"""Or until somebody ends it."""
CANNOT_FAIL: set[Words] = {
    ("serve",),
    ("write", "serve"),
    ("mcp", "list"),
    ("tokens", "webhook-secret"),
    ("write", "profile", "list"),
    ("write", "completion"),
    ("config", "path"),
    ("completion",),
    ("demo",),
}
"""They read nothing that can be broken, or tell of it in the answer; all that can fail is to write the answer."""
