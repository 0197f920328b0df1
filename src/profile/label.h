/*
 * label - which process it is, in words for a row or a menu.
 */
#pragma once

struct process;
struct text;

/*
 * "cc1 … part.c", "nginx: worker process": its title, and in front its name where the title does
 * not begin with that, "app.py (python3 ./app.py)".  Bytes are as they were recorded: not safe to
 * print.  "process" where neither is known.
 */
void label_add_process(struct text *text, const struct process *process);
