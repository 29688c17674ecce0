// Texts and bytes of any length between the members of a group, beside the collectives' vectors of
// floats. Collective, as those are.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "lockstep/collective/group.h"

namespace lockstep {

// What every member brought, at the root; elsewhere nothing.
std::vector<std::string> gather_texts(Group& group, const std::string& mine, int root);

// Everybody ends with the root's content, whatever he had before.
void broadcast_text(Group& group, std::string& text, int root);
void broadcast_bytes(Group& group, std::vector<std::byte>& bytes, int root);

// Is it true anywhere? Everybody learns the same answer.
bool any_member(Group& group, bool mine);

}  // namespace lockstep
