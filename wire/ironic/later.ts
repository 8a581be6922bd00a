/**
 * Routes that Ironic has and that are not served yet. They answer 404 saying so, instead of being taken for a mistyped
 * path; and the contract tests skip exactly these. A row leaves when its operations arrive.
 */
export const LATER_ROUTES: readonly string[] = [
  '/v1/allocations',
  '/v1/chassis',
  '/v1/deploy_templates',
  '/v1/events',
  '/v1/inspection_rules',
  '/v1/nodes/{node}/allocation',
  '/v1/nodes/{node}/portgroups',
  '/v1/nodes/{node}/volume',
  '/v1/portgroups',
  '/v1/runbooks',
  '/v1/shards',
  '/v1/volume',
]

const patterns = LATER_ROUTES.map((route) => new RegExp(`^${route.replaceAll(/\{\w+\}/g, '[^/]+')}(/|$)`))

/** @param path without query; with `/v1` */
export const isLaterRoute = (path: string): boolean => patterns.some((pattern) => pattern.test(path))
