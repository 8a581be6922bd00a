import { isDeepStrictEqual } from 'node:util'
import type { MachineProviderSpec } from '../../../../../base/kubernetes/index.js'
import type { ImageChange, ImageQuestion } from './cloud-images.js'

type AzureImage = NonNullable<MachineProviderSpec['image']>

/** An image of Azure's marketplace in stream metadata. */
interface MarketplaceImage {
  publisher: string
  offer: string
  sku: string
  version: string
}

/** Images of one purchase plan, for both generations of virtual machines. */
type PlanImages = Partial<Record<'hyperVGen1' | 'hyperVGen2', MarketplaceImage>>

/** Plans in stream metadata, by the publisher and the offer of their images. */
const PAID_PLANS: Readonly<Record<string, string>> = {
  'redhat rh-ocp-worker': 'ocp',
  'redhat rh-opp-worker': 'opp',
  'redhat rh-oke-worker': 'oke',
  'redhat-limited rh-ocp-worker': 'ocp-emea',
  'redhat-limited rh-opp-worker': 'opp-emea',
  'redhat-limited rh-oke-worker': 'oke-emea',
}
const UNPAID_PLAN = 'no-purchase-plan'
const UNPAID_PUBLISHER = 'azureopenshift'
const UNPAID_TYPE = 'MarketplaceNoPlan'

/**
 * Images on Azure: one that was uploaded at installation, or is unpaid, becomes the unpaid one of the release; a paid one that
 * of its own plan (machine-config-operator 7ff337a pkg/controller/bootimage/platform_helpers.go reconcileAzureProviderSpec).
 *
 * @throws Error for an image of no known plan, or without a successor
 */
export function azureImageChange({ name, value, offered, architecture }: ImageQuestion): ImageChange {
  const current: AzureImage = value.image ?? {}
  const left = leftAlone(name, value, architecture)
  if (left !== undefined) return { kind: 'skipped', why: left, isCounted: false }
  const plan = planOf(current)
  const marketplace = offered['rhel-coreos-extensions']?.marketplace as
    { azure?: Record<string, PlanImages> } | undefined
  if (!marketplace?.azure)
    return {
      kind: 'skipped',
      why: `Skipping machineset ${name}, marketplace streams are not available`,
      isCounted: true,
    }
  const images = marketplace.azure[plan]
  if (!images) throw new Error(`no Azure marketplace images available for variant ${plan}`)
  const generation = isSecondGeneration(current, architecture) ? 2 : 1
  const found = images[`hyperVGen${generation}`]
  if (!found) throw new Error(`no Gen${generation} Azure marketplace image available for architecture ${architecture}`)
  const image: AzureImage = {
    offer: found.offer,
    publisher: found.publisher,
    resourceID: '',
    sku: found.sku,
    version: found.version,
    type: plan === UNPAID_PLAN ? UNPAID_TYPE : 'MarketplaceWithPlan',
  }
  if (isDeepStrictEqual({ ...image }, { ...current })) return { kind: 'same' }
  return { kind: 'changed', value: { ...value, image }, image: `${found.sku} ${found.version}` }
}

/** Why machines of a set are none of the controller's business; undefined where they are. */
function leftAlone(name: string, { securityProfile }: MachineProviderSpec, architecture: string): string | undefined {
  const sets = 'machinesets/controlplanemachinesets'
  if (['ppc64le', 's390x'].includes(architecture))
    return `Skipping update for ${name}, ${sets} with arch ${architecture} are not supported for Azure`
  const type = securityProfile?.settings?.securityType ?? ''
  if (type === '') return undefined
  return `Skipping update for ${name}, ${sets} with a SecurityType defined(${type} in this case) is not currently supported for Azure`
}

function planOf({ resourceID = '', publisher = '', offer = '' }: AzureImage): string {
  if (resourceID !== '' || publisher === UNPAID_PUBLISHER) return UNPAID_PLAN
  const plan = PAID_PLANS[`${publisher} ${offer}`]
  if (plan === undefined) throw new Error('could not determine azure marketplace variant, cannot update boot images')
  return plan
}

/** Second generation of virtual machines, as the name of an uploaded image or of a plan's product says. */
function isSecondGeneration({ resourceID = '', sku = '', type }: AzureImage, architecture: string): boolean {
  if (resourceID !== '') return resourceID.includes('gen2')
  return type === UNPAID_TYPE ? sku.includes('v2') || architecture === 'aarch64' : !sku.includes('gen1')
}
