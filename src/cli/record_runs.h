/*
 * record_runs - fathom record --runs: a command again and again, or two in turn, one recording a
 * run, and what the comparison of them says.
 */
#pragma once

struct command;
struct record_settings;

/* The settings' command against the one that the options name, if they do.  The exit code. */
int record_runs(const struct command *command, struct record_settings *settings);
