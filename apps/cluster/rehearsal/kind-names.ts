import type { KindRegistry } from '../../../base/kubernetes/index.js'

export type NamedKind = NonNullable<ReturnType<KindRegistry['ofObject']>>

/** A kind by the names that kubectl takes: `BareMetalHost`, `baremetalhosts`, `bmh`, `machines.machine.openshift.io`. */
export function kindNamed(kinds: KindRegistry, named: string): NamedKind | undefined {
  const wanted = named.toLowerCase()
  return kinds
    .all()
    .find(({ resource, kind, singular, plural, shortNames }) =>
      [resource, kind, singular, plural, ...shortNames].some((name) => name.toLowerCase() === wanted),
    )
}
