// Builds the listed prompts and resources of an approved server from known members only, because a person has not reviewed each
// of them. An item with an unsafe name or address is left out.

import { isList, isObject, type Json, type JsonObject } from '@tollgate/evidence'
import { isSafeText, safeText } from './safe-text.ts'

/** A kind of list besides tools: the member of the result that holds the items. */
export type Listed = 'prompts' | 'resources' | 'resourceTemplates'

/** An item that a client may see; undefined if it must be left out. */
export function offeredItem(member: Listed, item: Json): JsonObject | undefined {
  if (!isObject(item)) return undefined
  const address = ADDRESS[member]
  const uri = address === undefined ? undefined : item[address]
  const { name } = item
  if (typeof name !== 'string' || !isSafeText(name, MAX_NAME)) return undefined
  if (address !== undefined && !isAddress(uri)) return undefined
  return {
    ...(address !== undefined && isAddress(uri) && { [address]: uri }),
    name,
    ...words(item),
    ...(member === 'prompts' ? argumentsOf(item) : contentOf(item)),
  }
}

const ADDRESS: Readonly<Record<Listed, string | undefined>> = {
  prompts: undefined,
  resources: 'uri',
  resourceTemplates: 'uriTemplate',
}
const MAX_NAME = 256
const MAX_ADDRESS = 2048
const MAX_ARGUMENTS = 64
const TYPE = /^[\w.+-]{1,64}\/[\w.+-]{1,64}(?:; ?[\w-]{1,32}=[\w.+-]{1,64})?$/
const MOMENT = /^[0-9TZ:.+-]{4,40}$/
const ROLES: readonly Json[] = ['user', 'assistant']

function isAddress(uri: Json | undefined): uri is string {
  return (
    typeof uri === 'string' && uri.length <= MAX_ADDRESS && !/\s/.test(uri) && isSafeText(uri, MAX_ADDRESS)
  )
}

function words({ title, description }: JsonObject): JsonObject {
  return {
    ...(typeof title === 'string' && { title: safeText(title) }),
    ...(typeof description === 'string' && { description: safeText(description) }),
  }
}

function argumentsOf({ arguments: all }: JsonObject): JsonObject {
  if (!isList(all)) return {}
  const told = all.slice(0, MAX_ARGUMENTS).flatMap((each) => {
    if (!isObject(each) || typeof each['name'] !== 'string' || !isSafeText(each['name'], MAX_NAME)) return []
    const { name, required } = each
    return [{ name, ...words(each), ...(typeof required === 'boolean' && { required }) }]
  })
  return { arguments: told }
}

function contentOf({ mimeType, size, annotations }: JsonObject): JsonObject {
  return {
    ...(typeof mimeType === 'string' && TYPE.test(mimeType) && { mimeType }),
    ...(typeof size === 'number' && { size }),
    ...(isObject(annotations) && { annotations: annotationsOf(annotations) }),
  }
}

function annotationsOf({ audience, priority, lastModified }: JsonObject): JsonObject {
  return {
    ...(isList(audience) && { audience: audience.filter((role) => ROLES.includes(role)) }),
    ...(typeof priority === 'number' && { priority }),
    ...(typeof lastModified === 'string' && MOMENT.test(lastModified) && { lastModified }),
  }
}
