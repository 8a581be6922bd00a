import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { goPeer } from '../../go-peer.js'
import { cachedPeer } from '../../peer-cache.js'
import { pythonPeer, succeeds } from '../../peers.js'

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url))

/** The release of Ansible's distribution whose modules for Redfish are taken. */
const ANSIBLE = '12.3.0'

/** A virtual environment with sushy, badfish and what Ansible's modules import. */
export const operatorClients = (): Promise<string> => pythonPeer(at('../../peers/redfish-operators.txt'))

/**
 * A folder for PYTHONPATH with the collection community.general, of which the modules for Redfish are used. It is taken from
 * the distribution `ansible`: the installation of all its collections takes minutes.
 */
export const communityGeneral = async (): Promise<string> => {
  const python = join(await operatorClients(), 'bin/python')
  return cachedPeer(`community-general-${ANSIBLE}`, async (building) => {
    const download = ['-m', 'pip', 'download', '--quiet', '--no-input', '--no-deps'] as const
    await succeeds(python, ...download, '--dest', building, `ansible==${ANSIBLE}`)
    await succeeds(python, '-c', UNPACK, building)
    return join(building, 'collections')
  })
}

const UNPACK = `import pathlib, sys, zipfile
building = pathlib.Path(sys.argv[1])
(wheel,) = building.glob('ansible-*.whl')
with zipfile.ZipFile(wheel) as archive:
    for name in archive.namelist():
        if name.startswith('ansible_collections/community/general/plugins/module'):
            archive.extract(name, building / 'collections')
`

/** The program in \`gofish/\`. */
export const dialectsGofish = (): Promise<string> => goPeer(at('./gofish'), { flags: ['-trimpath'] })
