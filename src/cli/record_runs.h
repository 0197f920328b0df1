/*
 * record_runs - fathom record --runs: runs a command repeatedly, or two alternately, each run
 * with its own recording, and compares them.
 */
#pragma once

struct command;
struct record_settings;

/*
 * Compares command with the settings' second command, if there is one. Returns the exit code.
 */
int record_runs(const struct command *command, struct record_settings *settings);
