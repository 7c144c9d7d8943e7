/* SPDX-License-Identifier: Apache-2.0 */
#include "stack.h"

#include "../interpose/sys.h"
#include "file.h"
#include "frame.h"
#include "object.h"

unsigned hh_stack_depth;

static _Atomic int unloading;

bool
hh_stack_begin(unsigned depth)
{
	if (!hh_unwind_begin())
		return false;
	hh_object_begin();
	hh_stack_depth = depth;
	hh_stack_none = 0;
	return true;
}

static void
check_objects(void)
{
	struct hh_stream *s = hh_stream_take(0);

	if (!s)
		return;
	hh_object_check(s);
	hh_stream_give(s);
}

void
hh_stack_unloading(void)
{
	atomic_fetch_add(&unloading, 1);
}

void
hh_stack_unloaded(void)
{
	check_objects();
	atomic_fetch_sub(&unloading, 1);
}

/* With its stream, a thread passes them on. */
static struct hh_walks *
walks_of(struct hh_stream *s)
{
	struct hh_walks **walks = hh_stream_walks(s);

	if (!*walks && s->chunk && !hh_file_sealed())
		*walks = hh_sys_map_private(sizeof **walks);
	return *walks;
}

/* NULL for a handler that interrupts who holds them. */
static struct hh_walks *
hold(struct hh_stack *stack)
{
	stack->walks = walks_of(hh_mine);
	stack->held = hh_stream_holds(hh_mine);
	if (!stack->walks || *stack->held)
		return stack->walks = NULL;
	*stack->held = true;
	atomic_signal_fence(memory_order_seq_cst);
	return stack->walks;
}

static void
let_go(struct hh_stack *stack)
{
	if (!stack->walks)
		return;
	stack->walks->number = stack->number;
	stack->walks = NULL;
	atomic_signal_fence(memory_order_seq_cst);
	*stack->held = false;
}

/* First the depth is known, and a forked child forgets its parent's numbers.
 *
 * While a library goes, what is known may be of another that was there: but
 * those that this thread's calls are in stay. */
void
hh_stack_capture(struct hh_stack *stack)
{
	unsigned most;

	if (!hh_stream_alive() || (hh_stack_depth && !hh_mine->chunk))
		hh_stream_come();
	most = hh_stack_depth;
	stack->walks = NULL;
	stack->count = stack->number = 0;
	if (!most)
		return;
	if (atomic_load_explicit(&unloading, memory_order_relaxed))
		check_objects();
	if (hold(stack)) {
		stack->pcs = stack->walks->pcs;
		stack->count = hh_unwind_again(stack->walks, most);
		stack->number = stack->walks->number;
		return;
	}
	stack->pcs = stack->few;
	stack->count = hh_unwind(stack->few,
	    most < HH_STACK_FEW ? most : HH_STACK_FEW);
}

uint32_t
hh_stack_find(struct hh_stack *stack)
{
	if (!stack->number)
		stack->number = hh_frame_find(stack->pcs, stack->count);
	if (stack->number)
		let_go(stack);
	return stack->number;
}

uint32_t
hh_stack_number(struct hh_stack *stack, struct hh_stream *s)
{
	if (!hh_stack_find(stack) && stack->count && s)
		stack->number = hh_frame_number(s, stack->pcs, stack->count);
	let_go(stack);
	return stack->number;
}
