import type { IronicOperation } from '../ironic-operation.js'

export const ROOTS = [
  { id: 'root', method: 'GET', path: '/', since: 1, status: 200 },
  { id: 'v1', method: 'GET', path: '/v1', since: 1, status: 200 },
] as const satisfies readonly IronicOperation[]
