// Recognizes models that search the web without a tool.

import { isList, type Json } from '@tollgate/evidence'

// Models of OpenAI, Perplexity and Groq, and any model that OpenRouter runs with search. A vendor prefix is possible.
const SEARCHING = /-search-(?:preview|api)|:online|(?:^|[/\s])(?:perplexity\/|sonar|compound)/i

/** Whether a model, or one of a list, searches the web without a tool. */
export function searchesWeb(model: Json | undefined): boolean {
  if (isList(model)) return model.some(searchesWeb)
  return typeof model === 'string' && SEARCHING.test(model)
}
