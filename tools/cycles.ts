/** The groups of nodes that reach each other: strongly connected components of more than one node (Tarjan). */
export function cyclesOf(graph: ReadonlyMap<string, readonly string[]>): string[][] {
  const order = new Map<string, number>();
  const path: string[] = [];
  const cycles: string[][] = [];

  function visit(node: string): number {
    const index = order.size;
    order.set(node, index);
    let low = index;
    path.push(node);
    for (const next of graph.get(node) ?? []) {
      if (!order.has(next)) low = Math.min(low, visit(next));
      else if (path.includes(next)) low = Math.min(low, order.get(next) ?? low);
    }
    if (low === index) {
      const component = path.splice(path.indexOf(node));
      if (component.length > 1) cycles.push(component);
    }
    return low;
  }

  for (const node of graph.keys()) if (!order.has(node)) visit(node);
  return cycles;
}
