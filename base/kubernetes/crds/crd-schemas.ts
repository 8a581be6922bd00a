import baremetalOperator from './baremetal-operator-02aa505.json' with { type: 'json' }

/** A schema of a CustomResourceDefinition: what `scripts/reduce-crds.js` keeps of it. */
export interface CrdSchema {
  type?: string | string[]
  format?: string
  enum?: unknown[]
  const?: unknown
  minLength?: number
  pattern?: string
  default?: unknown
  /** True if null is a value of its own; elsewhere it says that the field is not there. */
  nullable?: boolean
  properties?: Record<string, CrdSchema>
  additionalProperties?: CrdSchema | false
  required?: readonly string[]
  items?: CrdSchema
  anyOf?: CrdSchema[]
}

/** A kind as its CustomResourceDefinition has it. */
export interface CrdKind {
  apiVersion: string
  plural: string
  shortNames: string[]
  isNamespaced: boolean
  hasStatus: boolean
  schema: CrdSchema
}

type CrdKindName = keyof typeof baremetalOperator.kinds

/**
 * The original design's `image.format: coreos` and `image.diskFormat`, which are in no release: hosts that are written so
 * are taken too, and have such an image in their status.
 */
function withDesignedImage(kinds: Record<CrdKindName, CrdKind>): Record<CrdKindName, CrdKind> {
  const designed = structuredClone(kinds)
  allowDesignedImage(designed.BareMetalHost.schema)
  return designed
}

function allowDesignedImage({ properties = {} }: CrdSchema): void {
  const { format, checksumType } = properties
  if (format?.enum && checksumType) {
    format.enum.push('coreos')
    properties['diskFormat'] = { type: 'string', enum: ['coreos'] }
  }
  for (const each of Object.values(properties)) allowDesignedImage(each)
}

/** The kinds of metal3, by name. */
export const METAL3_CRDS: Readonly<Record<CrdKindName, CrdKind>> = withDesignedImage(
  baremetalOperator.kinds as Record<CrdKindName, CrdKind>,
)

/** The same schema, in which an object has no field that the schema does not name; metadata are not its own. */
export function closedSchema(schema: CrdSchema): CrdSchema {
  const closed: CrdSchema = { ...schema }
  if (schema.properties) {
    closed.properties = Object.fromEntries(
      Object.entries(schema.properties).map(([name, each]) => [name, closedSchema(each)]),
    )
    closed.additionalProperties = false
  }
  if (schema.additionalProperties) closed.additionalProperties = closedSchema(schema.additionalProperties)
  if (schema.items) closed.items = closedSchema(schema.items)
  // The one use of it: an integer or a text.
  if (schema.anyOf) {
    closed.type = schema.anyOf.map(({ type }) => type as string)
    delete closed.anyOf
  }
  return closed
}

/** Formats of strings and numbers; those of numbers say no more than their type. */
export const CRD_FORMATS = {
  int32: true,
  int64: true,
  double: true,
  'date-time': /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:?\d\d)$/i,
} as const
