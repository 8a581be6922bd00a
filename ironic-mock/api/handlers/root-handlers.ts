import {
  formatMicroversion,
  LATER_ROOT_RESOURCES,
  MIN_MICROVERSION,
  ROOT_RESOURCES,
  type JsonObject,
  type Microversion,
} from '../../../base/wire/index.js'
import type { HandlersOf } from '../call.js'
import type { Links } from '../api-links.js'

const versionOne = (links: Links, newest: Microversion): JsonObject => ({
  id: 'v1',
  links: [links.self('')],
  status: 'CURRENT',
  min_version: formatMicroversion(MIN_MICROVERSION),
  version: formatMicroversion(newest),
})

export const rootHandlers: HandlersOf<'root' | 'v1'> = {
  root: ({ links }, { newest }) => ({
    body: {
      name: 'OpenStack Ironic API',
      description: 'Ironic is an OpenStack project which enables the provision and management of baremetal machines.',
      default_version: versionOne(links, newest),
      versions: [versionOne(links, newest)],
    },
  }),
  v1: ({ links, version }, { newest }) => {
    const resources = (rows: typeof ROOT_RESOURCES) =>
      Object.fromEntries(rows.filter(({ since }) => since <= version).map(({ name }) => [name, links.pair(`${name}/`)]))
    return {
      body: {
        id: 'v1',
        links: [
          links.self(''),
          {
            href: 'https://docs.openstack.org//ironic/latest/contributor//webapi.html',
            rel: 'describedby',
            type: 'text/html',
          },
        ],
        media_types: { base: 'application/json', type: 'application/vnd.openstack.ironic.v1+json' },
        ...resources(ROOT_RESOURCES),
        version: versionOne(links, newest),
        ...resources(LATER_ROOT_RESOURCES),
      },
    }
  },
}
