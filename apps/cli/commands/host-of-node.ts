/** The host behind a node, whose name is `NAMESPACE~NAME`; undefined for any other node. */
export function hostOfNode(node: string): { namespace: string; name: string } | undefined {
  const [namespace, name, ...more] = node.split('~')
  return namespace === undefined || name === undefined || more.length > 0 ? undefined : { namespace, name }
}
