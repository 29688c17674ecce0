#include "lockstep/model/script_writer.h"

#include <torch/script.h>

#include <map>

#include "lockstep/model/whole_file.h"

namespace lockstep {
namespace {

// "stage1.block0.conv1.weight" is parameter weight of module conv1 of module block0 of stage1.
class ModuleTree {
 public:
  ModuleTree() { modules_.emplace("", make("network")); }

  torch::jit::Module& at(const std::string& path) {
    if (const auto found = modules_.find(path); found != modules_.end()) return found->second;
    const auto [parent, name] = split_last(path);
    auto& outer = at(parent);
    auto module = make("part" + std::to_string(modules_.size()));
    outer.register_module(name, module);
    return modules_.emplace(path, module).first->second;
  }

  static std::pair<std::string, std::string> split_last(const std::string& path) {
    const auto dot = path.rfind('.');
    if (dot == std::string::npos) return {"", path};
    return {path.substr(0, dot), path.substr(dot + 1)};
  }

 private:
  torch::jit::Module make(const std::string& type) {
    torch::jit::Module module(c10::QualifiedName("__torch__.lockstep." + type), unit_);
    module.register_attribute("training", c10::BoolType::get(), false);
    return module;
  }

  std::shared_ptr<torch::jit::CompilationUnit> unit_ =
      std::make_shared<torch::jit::CompilationUnit>();
  std::map<std::string, torch::jit::Module> modules_;
};

}  // namespace

void ScriptWriter::save(const std::string& path) const {
  ModuleTree tree;
  for (std::size_t i = 0; i < flat_.layers().size(); ++i) {
    const auto [module, name] = ModuleTree::split_last(flat_.layers()[i].name);
    auto value = flat_.parameter(i).clone().requires_grad_();
    tree.at(module).register_parameter(name, std::move(value), /*is_buffer=*/false);
  }
  for (std::size_t i = 0; i < flat_.buffer_layers().size(); ++i) {
    const auto [module, name] = ModuleTree::split_last(flat_.buffer_layers()[i].name);
    tree.at(module).register_buffer(name, flat_.buffer(i).clone());
  }
  tree.at("").define(source_ + "    return x\n");
  save_whole(path, [&](const std::string& name) { tree.at("").save(name); });
}

}  // namespace lockstep
