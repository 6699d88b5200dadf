"""OpenTelemetry spans of runs, by the GenAI conventions; nothing of it is imported unless an application uses it."""
