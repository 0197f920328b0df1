#include "report/process_cell.h"

#include "base/text.h"
#include "profile/label.h"
#include "report/grid.h"

void process_cell_add(struct grid *grid, enum tint tint, const struct process *process,
		      const char *name)
{
	struct text label = { 0 };

	if (process)
		label_add_process(&label, process);
	grid_add_name(grid, tint, process ? text_string(&label) : name);
	text_done(&label);
}
