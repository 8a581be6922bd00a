import { arg } from '../operation.js'

export const paging = { limit: arg.integer, marker: arg.string, sort_key: arg.string, sort_dir: arg.string } as const
export const selected = { fields: arg.list, detail: arg.boolean } as const
