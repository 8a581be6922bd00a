import { sha256Hex } from '../../../base/bytes/index.js'
import type { MachineProviderSpec } from '../../../base/kubernetes/index.js'
import type { StreamArchitecture } from '../../../coreos/index.js'

/** Clouds that a rehearsal has, as the Infrastructure of a cluster names them. */
export const CLOUDS = ['GCP', 'AWS', 'Azure'] as const
export type Cloud = (typeof CLOUDS)[number]

/** A release, as names of its images in clouds have it. */
interface ImageOrigin {
  /** `4.22.0` */
  release: string
  /** Version of CoreOS: `9.6.20260701-0`. */
  version: string
}

/** Names of images on a cloud, in machine sets and in the metadata of a stream. */
interface CloudPlatform {
  /** Platform of CoreOS's images: `gcp`. */
  coreos: string
  /** Beginning of the ids of its machines. */
  provider: string
  /** Name of the image in the settings of a machine. */
  imageIn: (value: MachineProviderSpec) => string | undefined
  /** Settings that name an image; others of the real ones are left out. */
  settings: (image: string) => MachineProviderSpec
  /** Name of the image that the metadata of a stream offers. */
  offeredIn: (architecture: StreamArchitecture) => string | undefined
  /** Part of the metadata that offers the image of a release. */
  offer: (origin: ImageOrigin) => Omit<StreamArchitecture, 'artifacts'>
  /** Name of an image of the user's own. */
  own: string
}

const GCP_PROJECT = 'rhcos-cloud'
const AWS_REGION = 'us-east-1'

interface AzurePlan {
  'no-purchase-plan'?: { hyperVGen2?: { publisher: string; offer: string; sku: string; version: string } }
}

/** Publisher, offer, SKU and version of an image of Azure's marketplace, as its command line takes them. */
const azureName = (image: Partial<Record<'publisher' | 'offer' | 'sku' | 'version', string>>): string =>
  [image.publisher, image.offer, image.sku, image.version].join(':')

export const CLOUD_PLATFORMS: Readonly<Record<Cloud, CloudPlatform>> = {
  GCP: {
    coreos: 'gcp',
    provider: 'gce://rehearsal/zone-a',
    imageIn: ({ disks = [] }) => disks.find(({ boot }) => boot === true)?.image,
    settings: (image) => ({ disks: [{ boot: true, image }] }),
    offeredIn: ({ images }) =>
      images?.gcp && `projects/${images.gcp.project ?? GCP_PROJECT}/global/images/${images.gcp.name}`,
    offer: ({ version }) => ({
      images: {
        gcp: { release: version, project: GCP_PROJECT, name: `rhcos-${version.replace(/[._]/g, '-')}-gcp-x86-64` },
      },
    }),
    own: 'projects/rehearsal/global/images/golden',
  },
  AWS: {
    coreos: 'aws',
    provider: `aws:///${AWS_REGION}a`,
    imageIn: ({ ami }) => ami?.id,
    settings: (id) => ({ ami: { id }, placement: { region: AWS_REGION } }),
    offeredIn: ({ images }) => images?.aws?.regions?.[AWS_REGION]?.image,
    offer: ({ version }) => ({
      images: {
        aws: { regions: { [AWS_REGION]: { release: version, image: `ami-${sha256Hex(version).slice(0, 17)}` } } },
      },
    }),
    own: 'ami-00000000000000000',
  },
  Azure: {
    coreos: 'azure',
    provider: 'azure:///subscriptions/rehearsal/virtualMachines',
    imageIn: ({ image = {} }) => (image.resourceID ? image.resourceID : azureName(image)),
    settings: (name) => {
      const [publisher = '', offer = '', sku = '', version = ''] = name.split(':')
      return { image: { publisher, offer, sku, version, resourceID: '', type: 'MarketplaceNoPlan' } }
    },
    offeredIn: (architecture) => {
      const { marketplace } = architecture['rhel-coreos-extensions'] ?? {}
      const image = (marketplace as { azure?: AzurePlan } | undefined)?.azure?.['no-purchase-plan']?.hyperVGen2
      return image && azureName(image)
    },
    offer: ({ release, version }) => {
      const sku = `${release.split('.').slice(0, 2).join('')}-v2`
      const image = { publisher: 'azureopenshift', offer: 'aro4', sku, version }
      const azure: AzurePlan = { 'no-purchase-plan': { hyperVGen2: image } }
      return { 'rhel-coreos-extensions': { marketplace: { azure } } }
    },
    own: 'rehearsal:golden:coreos:1.0.0',
  },
}
