import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/**
 * Writes a `clouds.yaml` with one cloud, `ironstage`, that has bare metal alone.
 *
 * @param more over it, as in `{ auth_type: 'http_basic', auth: { username, password, endpoint } }`
 * @returns what openstacksdk reads from its environment to use it
 */
export async function cloud(folder: string, url: string, more: Record<string, unknown> = {}) {
  const file = join(folder, 'clouds.yaml')
  const ironstage = {
    auth_type: 'none',
    // The endpoint of the credentials is where microversions are looked up, the override where calls go.
    auth: { endpoint: url },
    baremetal_endpoint_override: url,
    has_compute: false,
    has_image: false,
    ...more,
  }
  await writeFile(file, JSON.stringify({ clouds: { ironstage } }))
  return { OS_CLIENT_CONFIG_FILE: file, OS_CLOUD: 'ironstage' }
}
