import { CLAIMS_SCHEMA, LAB_SCHEMA, MACHINES_SCHEMA, MEMBERS_SCHEMA } from '../../members/members-schema.js'

/** One step of the schema. A step that was released is never changed: what is missing is another step. */
export interface Migration {
  /** In the order in which they are made. */
  readonly name: string
  /** Statements; the schema is the first in the search path. */
  readonly sql: string
}

/**
 * The tables of Ironic's records. Every process has the records in memory, so that tables are read by key alone: when a
 * process starts, and for what another process has changed. Values that are unique, and references, are refused by the
 * database too, as two processes may check them at the same time; at the end of a transaction, since a name may go from
 * one node to another within one. Half of each page of `nodes` stays free, so that a new version of a row finds place
 * beside the old one, and no index changes.
 */
const RECORDS = `
create table resources (
  kind text not null,
  id bigint not null unique,
  uuid text not null,
  node_uuid text,
  version integer not null default 1,
  record text not null,
  primary key (kind, uuid),
  constraint resources_id unique (kind, id)
);
create table nodes (
  uuid text primary key,
  id bigint not null unique,
  name text,
  instance_uuid text,
  provision_state text not null,
  driver text not null,
  chassis_kind text not null default 'chassis',
  chassis_id bigint,
  revision bigint not null,
  record text not null,
  work text,
  constraint nodes_name unique (name) deferrable initially deferred,
  constraint nodes_instance unique (instance_uuid) deferrable initially deferred,
  constraint nodes_chassis foreign key (chassis_kind, chassis_id) references resources (kind, id)
    deferrable initially deferred
) with (fillfactor = 50);
alter table resources add constraint resources_node foreign key (node_uuid) references nodes (uuid)
  deferrable initially deferred;
create index resources_of_node on resources (node_uuid) where node_uuid is not null;
create index nodes_of_chassis on nodes (chassis_id) where chassis_id is not null;
create table resource_keys (
  kind text not null,
  field text not null,
  value text not null,
  owner text not null,
  constraint resource_keys_value unique (kind, field, value) deferrable initially deferred,
  constraint resource_keys_owner foreign key (kind, owner) references resources (kind, uuid) on delete cascade
    deferrable initially deferred
);
create index resource_keys_of_owner on resource_keys (kind, owner);
create table ports (
  uuid text primary key,
  id bigint not null unique,
  address text not null,
  name text,
  node_uuid text not null,
  portgroup_kind text not null default 'portgroup',
  portgroup_id bigint,
  version integer not null default 1,
  record text not null,
  constraint ports_address unique (address) deferrable initially deferred,
  constraint ports_name unique (name) deferrable initially deferred,
  constraint ports_node foreign key (node_uuid) references nodes (uuid) deferrable initially deferred,
  constraint ports_portgroup foreign key (portgroup_kind, portgroup_id) references resources (kind, id)
    deferrable initially deferred
);
create index ports_of_node on ports (node_uuid);
create index ports_of_portgroup on ports (portgroup_id) where portgroup_id is not null;
create table inventories (
  node text primary key references nodes (uuid) on delete cascade deferrable initially deferred,
  record text not null
);
create table node_lists (
  node text not null references nodes (uuid) on delete cascade deferrable initially deferred,
  kind text not null,
  record text not null,
  primary key (node, kind)
);
create table history (
  id bigint generated always as identity primary key,
  node text not null references nodes (uuid) on delete cascade deferrable initially deferred,
  record text not null
);
create index history_of_node on history (node, id);
create sequence record_ids;
`

/**
 * The streams of changes. Each process numbers its commits in a stream of its own, since a number that all share would
 * be seen later than a greater one.
 */
const STREAMS = `
create table streams (
  stream integer generated always as identity primary key,
  seq bigint not null default 0,
  used timestamptz not null default now()
) with (fillfactor = 50);
create table changes (
  stream integer not null,
  seq bigint not null,
  at timestamptz not null default now(),
  keys text not null,
  primary key (stream, seq)
);
`

export const MIGRATIONS: readonly Migration[] = [
  { name: '0001 records', sql: RECORDS + STREAMS },
  { name: '0002 members', sql: MEMBERS_SCHEMA },
  { name: '0003 lab', sql: LAB_SCHEMA },
  { name: '0004 claims', sql: CLAIMS_SCHEMA },
  { name: '0005 machines', sql: MACHINES_SCHEMA },
]
