#include "profile/label.h"

#include <stdbool.h>
#include <string.h>

#include "base/text.h"
#include "profile/profile.h"

void label_add_process(struct text *text, const struct process *process)
{
	const char *name = process->name && *process->name ? process->name : NULL;
	const char *title = process->title && *process->title ? process->title : NULL;

	if (!title)
		text_add(text, name ? name : "process");
	else if (!name || strncmp(title, name, strlen(name)) == 0)
		text_add(text, title);
	else
		text_addf(text, "%s (%s)", name, title);
}
