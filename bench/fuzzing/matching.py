"""Whether rows can be assigned to rows: a maximum matching on groups."""

from collections import defaultdict


def saturates(supply, demand_of, edges):
    """Whether every unit of supply finds a unit of demand of its own (augmenting paths on groups)."""
    flow = defaultdict(int)
    free = dict(demand_of)
    users = defaultdict(set)
    for kind in sorted(supply, key=lambda kind: len(edges[kind])):
        for _ in range(supply[kind]):
            for target in edges[kind]:
                if free[target] > 0:
                    free[target] -= 1
                    flow[kind, target] += 1
                    users[target].add(kind)
                    break
            else:
                if not augment(kind, edges, free, flow, users):
                    return False
    return True


def augment(start, edges, free, flow, users):
    """Moves units along one alternating path so that one more unit of `start` finds a place."""
    came, queue, seen = {}, [start], {start}
    reached = set()
    while queue:
        kind = queue.pop()
        for target in edges[kind]:
            if target in reached:
                continue
            reached.add(target)
            came[target] = kind
            if free[target] > 0:
                free[target] -= 1
                while True:
                    kind = came[target]
                    flow[kind, target] += 1
                    users[target].add(kind)
                    if kind == start:
                        return True
                    target = came["from", kind]
                    flow[kind, target] -= 1
                    if flow[kind, target] == 0:
                        users[target].discard(kind)
            for other in list(users[target]):
                if other not in seen and flow[other, target] > 0:
                    seen.add(other)
                    came["from", other] = target
                    queue.append(other)
    return False
