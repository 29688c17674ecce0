#include "lockstep/experiment/report_page.h"

#include <string_view>

#include "lockstep/experiment/report_json.h"
#include "lockstep/experiment/report_table.h"

namespace lockstep {
namespace {

// Inside <script> nothing may look like its end; "<\/" means the same to JSON.
std::string inside_script(const std::string& json) {
  std::string text;
  text.reserve(json.size());
  for (std::size_t i = 0; i < json.size(); ++i) {
    text += json[i];
    if (json[i] == '<' && i + 1 < json.size() && (json[i + 1] == '/' || json[i + 1] == '!')) {
      text.pop_back();
      text += json[i + 1] == '/' ? "<\\" : "\\u003c";
    }
  }
  return text;
}

}  // namespace

Json page_data(const Comparison& comparison) {
  Json data = to_json(comparison);
  data["table"] = result_table(comparison);
  return data;
}

std::string report_page(const Comparison& comparison, bool live) {
  const PageParts& parts = page_parts();
  const std::string data =
      inside_script(page_data(comparison).dump(-1, ' ', false, Json::error_handler_t::replace));
  // Once through the page: what is put in is not looked at again.
  std::string page;
  std::string_view rest = parts.html;
  const auto put_before = [&](std::string_view mark, std::string_view what) {
    const auto at = rest.find(mark);
    page += rest.substr(0, at);
    page += what;
    rest.remove_prefix(at + mark.size());
  };
  put_before("{{STYLE}}", parts.style);
  put_before("{{LIVE}}", live ? " data-live" : "");
  put_before("{{DATA}}", data);
  put_before("{{CHART}}", parts.chart);
  put_before("{{SCRIPT}}", parts.script);
  page += rest;
  return page;
}

}  // namespace lockstep
