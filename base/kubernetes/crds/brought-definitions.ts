import { defined } from '../../runtime/index.js'
import type { JsonMembers } from '../kube-json.js'
import { METAL3_CRDS, OPENSHIFT_CRDS, type CrdKind } from './crd-schemas.js'

let made: readonly JsonMembers[] | undefined

/** The definitions of the kinds that ironstage's operators work on. */
export const broughtDefinitions = (): readonly JsonMembers[] =>
  (made ??= Object.entries<CrdKind>({ ...METAL3_CRDS, ...OPENSHIFT_CRDS }).map(([kind, crd]) =>
    definitionOf(kind, crd),
  ))

/** A reduced definition as an object of its kind. */
function definitionOf(kind: string, crd: CrdKind): JsonMembers {
  const [group, version] = crd.apiVersion.split('/')
  const { plural, shortNames, categories, isNamespaced, hasStatus, columns, schema } = crd
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group: group!,
      names: defined({
        kind,
        listKind: `${kind}List`,
        plural,
        singular: kind.toLowerCase(),
        shortNames: shortNames.length === 0 ? undefined : shortNames,
        categories,
      }),
      scope: isNamespaced ? 'Namespaced' : 'Cluster',
      versions: [
        defined({
          name: version,
          served: true,
          storage: true,
          schema: { openAPIV3Schema: schema },
          subresources: hasStatus ? { status: {} } : undefined,
          additionalPrinterColumns: columns,
        }),
      ],
    },
  } as unknown as JsonMembers
}
