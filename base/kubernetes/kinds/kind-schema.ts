import type { ErrorObject } from 'ajv'
import { SchemaCompiler } from '../../schemas/index.js'
import { checkedSchema, CRD_COMPILER_OPTIONS, EMBEDDED_MEMBERS, type CrdSchema } from '../crds/crd-schemas.js'
import type { JsonMembers } from '../kube-json.js'

/** How much of an object a schema knows. */
type SchemaExtent = 'whole' | 'part'

/** The schema of a version of a kind, for each of its readers. */
export class KindSchema {
  readonly fields: CrdSchema
  readonly #extent: SchemaExtent
  readonly #compiler = new SchemaCompiler(CRD_COMPILER_OPTIONS)
  #checked: CrdSchema | undefined
  #pruning: CrdSchema | undefined

  /** @param extent `part` where objects may have fields that the schema does not name */
  constructor(fields: CrdSchema = {}, extent: SchemaExtent = 'whole') {
    this.fields = fields
    this.#extent = extent
  }

  /** By what an object is pruned: with the members that every object has. */
  get pruning(): CrdSchema {
    this.#pruning ??= this.#extent === 'part' ? PRESERVING : withObjectMembers(this.fields)
    return this.#pruning
  }

  /** Errors of an object. */
  errorsOf(value: JsonMembers): readonly ErrorObject[] {
    this.#checked ??= checkedSchema(this.fields)
    const check = this.#compiler.check(this.#checked)
    return check.accepts(value) ? [] : check.errors()
  }
}

const withObjectMembers = (fields: CrdSchema): CrdSchema => ({
  ...fields,
  properties: { ...fields.properties, ...EMBEDDED_MEMBERS },
})

/** Fields of an object that are known where not all are: those of the metadata. */
const PRESERVING: CrdSchema = { properties: EMBEDDED_MEMBERS, 'x-kubernetes-preserve-unknown-fields': true }
