import type { Extension } from './extension.js'

/** The extension `poll`: the inventory on demand. */
export const pollExtension: Extension = {
  get_hardware_info: { kind: 'sync', required: [], optional: [], run: (_params, { inventory }) => inventory() },
}
