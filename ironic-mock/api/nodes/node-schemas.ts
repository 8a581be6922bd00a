import { networkDataSchema, nodeSchema, patchedNodeSchema, type JsonSchema } from '../../../base/wire/index.js'

/** Schemas that a new or a changed node must meet. */
export interface NodeSchemas {
  readonly created: JsonSchema
  readonly patched: JsonSchema
  readonly networkData: JsonSchema
}

const NODE_SCHEMAS: NodeSchemas = {
  created: nodeSchema,
  patched: patchedNodeSchema,
  networkData: networkDataSchema,
}

/** @param networkData a site's own schema of `network_data` (`[api]network_data_schema`); null for Ironic's */
export function nodeSchemas(networkData: JsonSchema | null): NodeSchemas {
  if (networkData === null) return NODE_SCHEMAS
  // References lead to the root, as in ironic 39.0.0 api/controllers/v1/node.py node_schema.
  const { definitions = {}, ...schema } = networkData
  const network_data = { anyOf: [{ type: 'null' }, { type: 'object', additionalProperties: false }, schema] }
  const withSiteSchema = (whole: JsonSchema): JsonSchema => ({
    ...whole,
    properties: { ...(whole.properties as JsonSchema), network_data },
    definitions,
  })
  return {
    created: withSiteSchema(nodeSchema as JsonSchema),
    patched: withSiteSchema(patchedNodeSchema),
    networkData,
  }
}
