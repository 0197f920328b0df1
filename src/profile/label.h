/* label - names a process for a row or a menu. */
#pragma once

struct process;
struct text;

/*
 * Adds "cc1 … part.c", "nginx: worker process": its title, preceded by its name unless the
 * title begins with that: "app.py (python3 ./app.py)". Bytes are as recorded: not safe to
 * print. "process" if neither is known.
 */
void label_add_process(struct text *text, const struct process *process);
