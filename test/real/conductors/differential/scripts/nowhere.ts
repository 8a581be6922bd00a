import { del, get, post, type Call, type Script } from '../script.js'

/** Paths and methods that lead nowhere. */
export function nowhere(): Script {
  const paths = [
    '/v2',
    '/v1/nonsense',
    '/nonsense',
    '/v1/nodes/',
    '/v1//nodes',
    '/nodes',
    '/v1/nodes/x/y/z',
    '/v1.json',
  ]
  return {
    name: 'nowhere',
    calls: [
      ...paths.flatMap((path): Call[] => [get(path), post(path, {}), del(path)]),
      ...['/v1/nodes', '/v1/ports', '/v1/drivers', '/v1/conductors', '/v1/chassis', '/v1/lookup', '/v1'].flatMap(
        (path): Call[] => [
          { method: 'PUT', path, body: {} },
          { method: 'DELETE', path },
          { method: 'HEAD', path },
        ],
      ),
    ],
  }
}
