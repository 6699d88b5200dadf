"""Every limit of the project: the unit is in the name, the comment says where the number comes from."""

from typing import Final

# --- What a model may send -----------------------------------------------------------------------------

# The most a current model can write in one turn: 128k tokens of about four bytes each.
MAX_ARGUMENTS_BYTES: Final = 524_288
# pydantic-core's JSON parser reads a value inside 200 levels and refuses one inside 201 (measured with 2.50; an empty
# array as the 201st level still passes, as nothing is in it); a higher limit could not be kept.
MAX_ARGUMENTS_DEPTH: Final = 200
# What the providers take as a tool name: ^[a-zA-Z0-9_-]{1,64}$.
MAX_TOOL_NAME_CHARACTERS: Final = 64
# OpenAI takes at most 128 tools in a request; a step that calls more often than that is a loop, not a plan.
MAX_CALLS_PER_STEP: Final = 128

# --- What a model reads back ---------------------------------------------------------------------------

# About 500 tokens: enough for any message written for a reader, too little for a dump of state.
MAX_ERROR_MESSAGE_CHARACTERS: Final = 2_000
# A model repairs the first few fields and sends the call again; the rest is noise.
MAX_VALIDATION_ERRORS_SHOWN: Final = 10

# --- What a person sees --------------------------------------------------------------------------------

# Where nobody is at a terminal, silence for five minutes is a rejection (C30).
APPROVAL_TIMEOUT_S: Final = 300
# The narrowest common terminal: a run of blanks that wide can push what follows out of sight.
MAX_BLANK_RUN_COLUMNS: Final = 80
# Tibetan stacks and pointed Hebrew stay below this; the stream-safe format of UAX #15 allows 30, and 30
# accents on one letter cover the lines around it.
MAX_MARKS_PER_BASE: Final = 8
# A preview lists findings one a line; a person who has seen a thousand has seen enough to refuse.
MAX_FINDINGS_SHOWN: Final = 1_000

# --- Secrets -------------------------------------------------------------------------------------------

# NIST SP 800-63B lets no chosen secret be shorter; shorter values ("true", "dev") occur in ordinary text.
MIN_SECRET_CHARACTERS: Final = 8
# A value that the caller says is secret is believed from this length on; replacing shorter ones would
# shred ordinary words.
MIN_KNOWN_SECRET_CHARACTERS: Final = 4

# --- Outgoing connections ------------------------------------------------------------------------------

# RFC 9110 (4.1) asks for at least 8,000 octets; nothing a person links to is longer.
MAX_URL_CHARACTERS: Final = 8_192
# RFC 1035 (2.3.4): 255 octets on the wire, which leaves 253 characters in dotted form.
MAX_HOST_CHARACTERS: Final = 253
# Large sites answer with 8 or fewer; a name with hundreds is an attempt to make us dial all of them.
MAX_ADDRESSES_PER_NAME: Final = 32
# The system resolver's own default is 2 tries of 5 seconds each.
RESOLVE_TIMEOUT_S: Final = 10
# httpx2's own default: most servers close idle connections after 5 seconds or more.
KEEPALIVE_S: Final = 5
# A TCP handshake with two lost packets takes 3 seconds; a host that has not answered after 10 will not.
HTTP_CONNECT_TIMEOUT_S: Final = 10.0
# Rate limits are told for an hour at most; a server that asks for more than a day has sent no number of seconds.
MAX_RETRY_AFTER_S: Final = 86_400.0

# --- Programs ------------------------------------------------------------------------------------------

# From SIGTERM to SIGKILL: enough to remove temporary files, short enough for a person who pressed Ctrl-C.
PROGRAM_GRACE_S: Final = 1.0
# How long the end of a killed program is awaited: it dies at its next turn, which a busy machine gives it late.
PROGRAM_KILLED_S: Final = 10.0
# How long output is still awaited when the program has ended but a child of it holds the pipe open.
PROGRAM_DRAIN_S: Final = 0.5
# How often a group that was asked to end is looked at: too short to notice, too long to cost anything.
PROGRAM_POLL_S: Final = 0.01
# One pipe buffer on Linux: a larger read returns no more.
PROGRAM_READ_BYTES: Final = 65_536
